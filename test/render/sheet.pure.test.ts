/** The grid of a sheet: what is refused, and where the cells of every other lie. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LIMITS } from '../../src/contract/limits.ts';
import { cellCorner, type LabelSheet, sheetFaults } from '../../src/contract/sheet.ts';
import { designedTemplate, template } from '../../src/contract/template.ts';

const L7159 = {
  width: 210,
  height: 297,
  columns: 3,
  rows: 8,
  left: 7.2,
  top: 12.9,
  pitchX: 66.04,
  pitchY: 33.9,
};

/** The pointers of what the schema says is wrong with a sheet of labels of 63.5 × 33.9 mm. */
function faults(changes: object): string[] {
  const label = { name: 'x', width: 63.5, height: 33.9, elements: [], sheet: { ...L7159, ...changes } };
  const issues = designedTemplate.safeParse(label).error?.issues ?? [];
  return issues.map(({ path }) => `/${path.join('/')}`);
}

describe('the schema', () => {
  test.each<[string, object, string[]]>([
    ['takes what the maker publishes', {}, []],
    ['takes labels that touch', { pitchX: undefined, pitchY: undefined }, []],
    [
      'takes labels that fill the page, whatever their sizes add up to',
      { left: 19.5, pitchX: 63.5, top: 25.8 },
      [],
    ],
    ['refuses columns beyond the page', { columns: 4 }, ['/sheet/columns']],
    ['refuses rows beyond the page', { top: 30 }, ['/sheet/rows']],
    ['refuses a margin that pushes the last column out', { left: 15 }, ['/sheet/columns']],
    ['refuses labels that overlap', { pitchX: 63, pitchY: 33 }, ['/sheet/pitchX', '/sheet/pitchY']],
    ['asks one column for no pitch', { columns: 1, pitchX: 1 }, []],
    [
      'refuses a page smaller than the label',
      { columns: 1, rows: 1, width: 60, left: 0 },
      ['/sheet/columns'],
    ],
    [
      'refuses more labels than anybody cuts',
      { columns: 50, rows: 50 },
      ['/sheet/rows', '/sheet/columns', '/sheet/rows'],
    ],
    ['refuses none', { rows: 0 }, ['/sheet/rows']],
    ['refuses halves', { columns: 2.5 }, ['/sheet/columns']],
    ['refuses a margin outside of the page', { left: -1 }, ['/sheet/left']],
    ['refuses what it does not know', { gapX: 2 }, ['/sheet']],
  ])('%s', (_, changes, expected) => {
    expect(faults(changes)).toEqual(expected);
  });

  test('is published with the sheet', () => {
    const schema = JSON.stringify(z.toJSONSchema(template, { io: 'input' }));
    for (const member of Object.keys(L7159)) expect(schema).toContain(`"${member}"`);
    expect(schema).toContain(`"maximum":${LIMITS.labelsPerSheet}`);
  });
});

const length = (max: number) => fc.integer({ min: 1, max: max * 10 }).map((tenths) => tenths / 10);
const sheets = fc.record({
  label: fc.record({ width: length(120), height: length(120) }),
  sheet: fc.record({
    width: length(300),
    height: length(300),
    columns: fc.integer({ min: 1, max: 12 }),
    rows: fc.integer({ min: 1, max: 12 }),
    left: fc.integer({ min: 0, max: 300 }).map((tenths) => tenths / 10),
    top: fc.integer({ min: 0, max: 300 }).map((tenths) => tenths / 10),
    pitchX: fc.option(length(120), { nil: undefined }),
    pitchY: fc.option(length(120), { nil: undefined }),
  }),
});

test('a grid is refused exactly where a label lies on another, or over the edge of the page', () => {
  const near = 0.01;
  fc.assert(
    fc.property(
      sheets,
      ({ label, sheet }: { label: { width: number; height: number }; sheet: LabelSheet }) => {
        const cells = Array.from({ length: sheet.columns * sheet.rows }, (_, cell) =>
          cellCorner(label, sheet, cell),
        );
        const over = cells.some(
          ({ x, y }) => x + label.width > sheet.width + near || y + label.height > sheet.height + near,
        );
        const meet = cells.some((a, index) =>
          cells
            .slice(index + 1)
            .some(
              (b) => Math.abs(a.x - b.x) < label.width - near && Math.abs(a.y - b.y) < label.height - near,
            ),
        );
        expect(sheetFaults(label, sheet).length > 0).toBe(over || meet);
      },
    ),
    { numRuns: 300 },
  );
});

test('cells are counted row by row from the top left', () => {
  const corners = [0, 1, 2, 3, 23].map((cell) => cellCorner({ width: 63.5, height: 33.9 }, L7159, cell));
  const rounded = corners.map(({ x, y }) => [x.toFixed(2), y.toFixed(2)]);
  expect(rounded).toEqual([
    ['7.20', '12.90'],
    ['73.24', '12.90'],
    ['139.28', '12.90'],
    ['7.20', '46.80'],
    ['139.28', '250.20'],
  ]);
});
