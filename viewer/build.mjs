// Bundles the page into one HTML file: node build.mjs [OUT]
// The writer of a report puts its data where the marker is. Scripts and styles are allowed by their hashes only.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? `${here}/../build/viewer/report.html`);
const marker = '<!--PANTOGRAPH-REPORT-->';
const limit = 1.5e6;

const result = await build({
  entryPoints: [`${here}/src/main.ts`],
  bundle: true, minify: true, write: false, outdir: here, format: 'iife', target: ['es2022'], charset: 'utf8',
  legalComments: 'inline', logLevel: 'warning',
});
const pick = (extension) => result.outputFiles.find((f) => f.path.endsWith(extension)).text.trim();
const [script, style] = [pick('.js'), pick('.css')];
if (script.includes('<!--') || /<\/script/i.test(script) || /<\/style/i.test(style)) {
  throw new Error('the bundle would end its own element');
}
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data: blob:`;
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Pantograph report</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<noscript>This report needs JavaScript; it works without a network.</noscript>
<script>${script}</script>
${marker}
</body>
</html>
`;
if (page.split(marker).length !== 2) throw new Error('the marker must occur once');
const size = Buffer.byteLength(page);
if (size > limit) throw new Error(`the page has ${size} bytes, more than ${limit}`);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
console.log(`${out}: ${(size / 1e3).toFixed(0)} kB`);
