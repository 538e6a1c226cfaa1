/** docs/templates.md names every member that an element can have, every symbology, and what has which option. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  barcodeElement,
  boxElement,
  designedTemplate,
  ellipseElement,
  imageElement,
  lineElement,
  rawZplTemplate,
  SYMBOLOGIES,
  SYMBOLOGY_OPTIONS,
  textElement,
} from '../../src/contract/template.ts';
import { TEMPLATE_PROBLEMS } from '../../src/contract/template-problem.ts';
import { symbologyRules } from '../../src/render/symbol/symbol.ts';

const page = await readFile(new URL('../../docs/templates.md', import.meta.url), 'utf8');

/** What stands in backticks or as a key of an example, in a section or in all of the page. */
function names(heading?: RegExp): Set<string> {
  const sections = page.split(/^(?=#{2,3} )/m);
  const text = heading === undefined ? page : sections.filter((one) => heading.test(one)).join('');
  return new Set(text.match(/(?<=[`"])[\w-]+(?=[`"])/g));
}

/** Of every element; `type` is the heading. */
const COMMON = ['type', 'x', 'y', 'rotation', 'when', 'group'];

test.each([
  ['text', textElement, /^### `text`/],
  ['barcode', barcodeElement, /^### `barcode`/],
  ['box', boxElement, /^### `box`/],
  ['line', lineElement, /^### `box`/],
  ['ellipse', ellipseElement, /^### `box`/],
  ['image', imageElement, /^### `box`/],
])('every member of %s', (_, schema, heading) => {
  const named = names(heading);
  const all = names();
  const members = Object.keys(schema.shape);
  expect(members.length).toBeGreaterThan(4);
  expect(members.filter((name) => !COMMON.includes(name) && !named.has(name))).toEqual([]);
  expect(COMMON.filter((name) => !all.has(name))).toEqual([]);
});

test('every member of a template, and every finding of its check', () => {
  const named = names();
  const templates = [designedTemplate, rawZplTemplate].flatMap((schema) => Object.keys(schema.shape));
  const members = [...templates, ...TEMPLATE_PROBLEMS];
  expect(members.filter((name) => !named.has(name))).toEqual([]);
});

test('every symbology', () => {
  const named = names(/^### `barcode`/);
  expect(SYMBOLOGIES.filter((name) => !named.has(name))).toEqual([]);
});

test.each(SYMBOLOGY_OPTIONS)('the symbologies that have the option %s', (option) => {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${option}\` `));
  const said = [...(row?.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  const have = SYMBOLOGIES.filter((symbology) => symbologyRules(symbology).options.includes(option));
  expect(said.toSorted()).toEqual(have.toSorted());
});
