// Formulas, rendered by KaTeX from the site's own files.
document.querySelectorAll(".arithmatex").forEach((element) => {
  const text = element.textContent.trim();
  katex.render(text.slice(2, -2), element, { displayMode: text.startsWith("\\["), throwOnError: false });
});
