import { describe, expect, test } from 'vitest';
import { svgElements } from '../../src/render/image/svg.ts';

const svg = (inner: string, head = '') =>
  Buffer.from(`${head}<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`);

describe('an SVG on a label', () => {
  test.each([
    ['a path', svg('<path d="M0 0h9v9z"/>')],
    [
      'a declaration and a comment',
      svg('<g/>', '<?xml version="1.0" encoding="UTF-8"?>\n<!-- drawn by hand -->\n'),
    ],
    ['a gradient of its own', svg('<linearGradient id="g"/><rect fill="url(#g)"/><stop href="#g"/>')],
    ['a style sheet', svg('<style>.a{fill:#000}</style><path class="a"/>')],
    ['a long outline', svg(`<path d="${'M0 0'.repeat(90_000)}" stroke="none"/>`)],
    ['many stroked outlines', svg(`<path d="${'M0 0'.repeat(5_000)}" stroke="red"/>`.repeat(4))],
    ['escaped markup', svg('<title>a &lt; b &amp; c</title>')],
  ])('%s is drawn', (_, bytes) => {
    expect(svgElements(bytes)).toBeGreaterThan(0);
  });

  test.each([
    ['a picture from elsewhere', svg('<image href="file:///etc/passwd"/>')],
    ['an embedded picture', svg('<image xlink:href="data:image/png;base64,AAAA"/>')],
    ['a script', svg('<script>1</script>')],
    ['a script in a namespace', svg('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>')],
    ['foreign content', svg('<foreignObject><p/></foreignObject>')],
    ['text in a font of the host', svg('<text>A</text>')],
    ['outlines without end', svg(`<path d="${'M0 0'.repeat(30_000)}"/>`.repeat(4))],
    [
      'more and more stroked outlines',
      svg(`${`<path d="${'M0 0'.repeat(5_000)}"/>`.repeat(5)}<path stroke="red" d="M0 0z"/>`),
    ],
    ['a long stroked outline', svg(`<g stroke="red"><path d="${'M0 0'.repeat(8_000)}"/></g>`)],
    ['one that a style strokes', svg(`<style>*{stroke:red}</style><path d='${'M0 0'.repeat(8_000)}'/>`)],
    ['a stroke in hiding', svg(`<path style="stroke/**/:red" d="${'M0 0'.repeat(8_000)}"/>`)],
    ['what multiplies', svg('<g id="a"/><use href="#a"/>')],
    ['a fill from elsewhere', svg('<rect fill="url(http://x/y#z)"/>')],
    ['a fill from elsewhere, in quotes', svg(`<rect style="fill:url('//x/y')"/>`)],
    ['a link', svg('<pattern href="http://x/"/>')],
    ['a link without quotes', svg('<pattern href=http://x/ />')],
    ['an imported style', svg('<style>@import "x.css";</style>')],
    ['a hidden reference', svg('<rect fill="u&#114;l(http://x)"/>')],
    ['an escaped reference', svg('<style>.a{fill:u\\72l(http://x)}</style>')],
    ['entities', svg('&a;', '<!DOCTYPE svg [<!ENTITY a "b">]>')],
    ['a style sheet from elsewhere', svg('', '<?xml-stylesheet href="x.css"?>')],
    ['a processing instruction inside', svg('<?xml-stylesheet href="x.css"?>')],
    ['another encoding', Buffer.from('<svg/>', 'utf16le')],
    ['bytes that are no text', Buffer.from([0x89, 0xff, 0xfe])],
    ['HTML', Buffer.from('<html><svg/></html>')],
    ['nothing', Buffer.alloc(0)],
  ])('%s is refused', (_, bytes) => {
    expect(() => svgElements(bytes)).toThrow(/SVG/);
  });
});
