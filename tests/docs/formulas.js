// Renders every formula of a built site with KaTeX: formulas.js SITE. A formula that KaTeX cannot read fails.
const fs = require("fs");
const path = require("path");
const katex = require("/usr/share/javascript/katex/katex.min.js");

const pages = (folder) =>
  fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? pages(file) : file.endsWith(".html") ? [file] : [];
  });
const plain = (text) =>
  text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&amp;/g, "&");

let formulas = 0;
let wrong = 0;
for (const page of pages(process.argv[2])) {
  const html = fs.readFileSync(page, "utf8");
  for (const [, inner] of html.matchAll(/class="arithmatex">(.*?)<\/(?:span|div)>/gs)) {
    const text = plain(inner).trim();
    ++formulas;
    try {
      katex.renderToString(text.slice(2, -2), { displayMode: text.startsWith("\\[") });
    } catch (error) {
      ++wrong;
      console.log(`${path.relative(process.argv[2], page)}: ${error.message}`);
    }
  }
}
console.log(`${formulas} formulas, ${wrong} wrong`);
process.exit(wrong || !formulas ? 1 : 0);
