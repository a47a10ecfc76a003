// A block of code that scrolls becomes a region of the page. Each is given a name of its own, so that a screen reader
// tells them apart.
const blocks = [...document.querySelectorAll('.expressive-code pre')]
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (target.getAttribute('role') === 'region') {
      target.setAttribute('aria-label', `Code ${blocks.indexOf(target) + 1}`)
    } else target.removeAttribute('aria-label')
  }
}).observe(document.body, { attributes: true, attributeFilter: ['role'], subtree: true })
