/** The console speaks to people: it has no words of the protocol, of the database or of a command line. */
import { describe, expect, test } from 'vitest';
import { BULK_ACTIONS } from '../../src/contract/job-actions.ts';
import { VIRTUAL_FAULTS } from '../../src/contract/printer-actions.ts';
import { PROBLEMS } from '../../src/server/problems.ts';
import { deedOf, detailOf, saidValue } from '../../web/access/deed-words.ts';
import { placeWords } from '../../web/controls/place-words.ts';
import { de } from '../../web/texts/de.ts';
import { en } from '../../web/texts/en.ts';
import { chosenLanguage } from '../../web/texts/texts.ts';

/** What a text may not have in it, and why. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  payload: /payload|nutzlast/i,
  'what people know as their workspace': /\btenants?\b|\bmandant/i,
  'a JSON pointer': /(?:^|[\s"'(])\/(?:data|elements|fields|images|fonts|source)\b/,
  'a word of the wire': /\b(?:UUID|Idempotency-Key|Content-Type|enqueued?)\b|\bpk_/i,
  'a permission': /\b(?:jobs|labels|templates|printers|tenants):[a-z]+\b/,
  'a command line':
    /\bplaten (?:up|user|agent|console|tenant|template|printer|print|job|integration|webhook|doctor|update)\b|\bnpm (?:run|start)\b|\bapt(?:-get)? /,
  'the name of a member': /\b[a-z]+(?:[A-Z][a-z]+)+\b(?<!x-tenant)/,
};

/** What may be written so: slots of sentences, a symbology, and in quotes the names of properties in a template's file. */
const NAMES = /\{\w+\}|\brMQR\b|["„]\w+["“]/g;

/** Each text with its path. The words of a function are read from its source. */
function* textsOf(words: unknown, way: string): Generator<[way: string, text: string]> {
  if (typeof words === 'string') yield [way, words];
  else if (typeof words === 'function') {
    const source = String(words).replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, ' ');
    for (const [, text] of source.matchAll(/['"`]([^'"`]{2,})['"`]/g)) yield [way, text ?? ''];
  } else if (typeof words === 'object' && words !== null)
    for (const [name, one] of Object.entries(words)) yield* textsOf(one, `${way}.${name}`);
}

/** These texts are for the developer of an integration, who knows the words of the interface. */
const OF_DEVELOPERS = ['.integrations.tenant', '.webhooks.testSays'];

const found = (texts: Iterable<[string, string]>) =>
  [...texts].flatMap(([way, text]) =>
    Object.entries(FORBIDDEN)
      .filter(([, what]) => !OF_DEVELOPERS.includes(way) && what.test(text.replaceAll(NAMES, ' ')))
      .map(([why]) => `${way}: ${why}: ${text}`),
  );

describe.each([
  ['English', en],
  ['German', de],
])('%s', (_, words) => {
  test('the texts', () => {
    expect(found(textsOf(words, ''))).toEqual([]);
  });

  test('refusals, as they stand on a page', () => {
    const said = Object.entries(PROBLEMS).map(([code, { title }]): [string, string] => [
      code,
      words.problem.refusals[code] ?? title,
    ]);
    expect(found(said)).toEqual([]);
  });

  test('one deed, one word', () => {
    const { jobs, job, held } = words;
    const { retry, release } = jobs.bulk;
    expect([job.retry, retry.action, release.action]).toEqual([held.choose, held.choose, held.choose]);
    expect(retry.open).toBe(`${job.retry} …`);
  });
});

test.each(['en', 'de'])('%s: where a form is wrong', (language) => {
  chosenLanguage.keep(language);
  expect(placeWords('/numberCopies', 'x')).toMatch(/^(?:Copies of each|Kopien von jedem): x$/);
  expect(placeWords('/elements/3/x', 'y')).toBe('Element 4, x: y');
  expect(placeWords('/constructor', 'x')).toBe('constructor: x');
  expect(placeWords('', 'x')).toBe('x');
  chosenLanguage.keep('');
});

test.each(['en', 'de'])('%s: what the audit says beside a deed', (language) => {
  chosenLanguage.keep(language);
  const names = new Map([['serial-4711', 'Dock 4']]);
  const details: Readonly<Record<string, unknown>>[] = [
    ...BULK_ACTIONS.map((action) => ({ action, uncertain: 'skip', to: { printerId: 'serial-4711' } })),
    { state: 'approved', printers: ['serial-4711'], count: 1 },
    { secret: 'old', scope: 'jobs:enqueue jobs:read', oldForHours: 168, role: 'admin' },
    { faults: [...VIRTUAL_FAULTS], messages: 3, place: null, group: null },
    { tenants: '*' },
    { mediaTracking: 'gap', printMode: 'tear-off', thermalMode: 'direct', labelTop: 8 },
  ];
  const said = details.flatMap((one) =>
    Object.entries(one).map(([name, value]) => [detailOf(name), saidValue(name, value, names)] as const),
  );
  for (const [name, value] of said) {
    expect([name, value].join(': ')).not.toMatch(
      /serial-4711|null|168|\*|\w:\w|media-empty|power-off|[a-z][A-Z]/,
    );
    expect(name).not.toBe('');
  }
  expect(said.map(([, value]) => value)).toContain('Dock 4');
  expect(deedOf('jobs.bulk')).not.toBe('jobs.bulk');
  chosenLanguage.keep('');
});
