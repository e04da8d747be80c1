// All tests: node test/run.mjs [NAME…] runs the files whose names hold one of the NAMEs.
// REPORT_PAGE names a page that is already built.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const chosen = (suffix) => readdirSync(here).filter((f) => f.endsWith(suffix) && (!wanted.length || wanted.some((w) => f.includes(w)))).sort();
const scratch = mkdtempSync(join(tmpdir(), 'pantograph-viewer-'));
let failed = false;
const run = (args, env = {}) => {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  if (status !== 0) failed = true;
  return status === 0;
};
try {
  const units = chosen('.test.mjs');
  if (units.length) {
    // The sources are TypeScript: the tests are bundled with them.
    await build({
      entryPoints: units.map((f) => join(here, f)), bundle: true, platform: 'node', format: 'esm', outdir: scratch,
      outExtension: { '.js': '.mjs' }, logLevel: 'warning',
    });
    run(['--test', ...units.map((f) => join(scratch, f))]);
  }
  const browsers = chosen('.e2e.mjs');
  let page = process.env.REPORT_PAGE;
  if (browsers.length && !page) {
    page = join(scratch, 'report.html');
    run([join(here, '..', 'build.mjs'), page]);
  }
  for (const f of browsers) run(['--test', join(here, f)], { REPORT_PAGE: page, SCRATCH: scratch });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
