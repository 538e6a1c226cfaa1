/**
 * Checks a template for problems before anything is printed from it.
 *
 * An *error* occurs with every record, or can only be a mistake; a template with an error is not imported. A *warning* occurs
 * only with the fields' samples, or only at some resolutions, or means that a label prints but perhaps not as meant. The check
 * runs the code that prints, so that its result cannot differ from printing.
 */

import { setImmediate as breathe } from 'node:timers/promises';
import { dots, millimetres } from '../contract/dots.ts';
import { JobFaultError } from '../contract/fault.ts';
import type { PrinterFormat } from '../contract/format.ts';
import type { LabelRecord } from '../contract/print-request.ts';
import { because, becauseOf, type Reason, reasonIn, reasonText } from '../contract/reason.ts';
import type { DesignedTemplate, RawZplTemplate, Template } from '../contract/template.ts';
import type { TemplateProblem } from '../contract/template-problem.ts';
import { isBuiltIn, type JobFacts, numbered } from '../values/built-ins.ts';
import { type RawMedia, rawPlacementFaults } from '../zpl/raw/placement.ts';
import { compileRawZpl, type RawOptions, type RawZpl } from '../zpl/raw/template.ts';
import { createAssets } from './assets.ts';
import type { Item } from './display-list.ts';
import { requireDots } from './dot-limit.ts';
import { DrawnElements } from './drawn-elements.ts';
import type { ImageSet } from './image/image.ts';
import { PictureFault } from './image/picture-fault.ts';
import type { LabelGrid } from './label-grid.ts';
import { mediaGrid } from './label-layout.ts';
import { ElementFault, type ElementLayout } from './place.ts';
import { itemsOffLabel, itemsWhollyOff, quietZoneConflicts } from './placement-check.ts';
import { fieldsIn, templateFields, templateTexts } from './template-fields.ts';
import { FontFault } from './text/font-fault.ts';
import { codePoint, firstWithout } from './text/glyphs.ts';
import type { FaceWish, FontSet } from './text/tenant-fonts.ts';

/** What a template is checked for. `RESOLUTIONS` are checked if neither format nor template names one. */
export type CheckTarget = Pick<PrinterFormat, 'dpi'> & Partial<Pick<PrinterFormat, 'width' | 'height'>>;
const RESOLUTIONS = [203, 300, 600];

/** No field may have this name: parsers of JSON drop it, or change the object's prototype. */
const UNSENDABLE = because('field-unsendable', { field: '"__proto__"' });

const MOST_PROBLEMS = 200;
/** Difference of label and media that is tolerated, mm. */
const SIZE_TOLERANCE = 1;
/** Share by which rounding to dots may change a module without a warning. */
const MODULE_TOLERANCE = 0.2;

/** A fixed job, so that a check gives the same result on every day. */
const SAMPLE_JOB: JobFacts = { createdAt: '2026-11-21T07:45:00.000Z', copies: 1, records: { length: 1 } };

/** `printerCommands`: the tenant's raw templates may set printers up. */
type RawRules = Pick<RawOptions, 'printerCommands'>;

/** `drawn`: the elements at the format's resolution, if they are drawn for a picture too. The check then uses these. */
type CheckOptions = RawRules & { readonly drawn?: DrawnElements | undefined };

/** Called with the JSON pointer of what is checked next, so that it is known where a check was stopped. */
type Progress = (pointer: string) => void;

/**
 * Checks a template that the schema accepts. Returns at most 200 problems, errors first.
 * @param format what it is to be printed on; without it, the template's own resolution is checked, or all common ones
 * @param options what its tenant may do, and what is drawn already
 */
export async function templateProblems(
  template: Template,
  format?: CheckTarget,
  at: Progress = () => undefined,
  options: CheckOptions = {},
): Promise<TemplateProblem[]> {
  const problems = [...fieldProblems(template), ...conditionProblems(template)];
  if (format !== undefined) problems.push(...sizeProblems(template, format));
  if (template.language === 'zpl') {
    at('/source');
    problems.push(...rawProblems(template, format ?? template, options));
  } else if (template.language === 'platen') {
    const dpis = format === undefined ? (template.dpi ? [template.dpi] : RESOLUTIONS) : [format.dpi];
    problems.push(...(await designProblems(template, dpis, at, options.drawn)));
    if (dpis.length === 1) problems.push(...moduleProblems(template, dpis[0] ?? 0));
  }
  const rank = (problem: TemplateProblem) => (problem.severity === 'error' ? 0 : 1);
  return problems.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_PROBLEMS);
}

function warning(code: TemplateProblem['code'], pointer: string, reason: Reason): TemplateProblem {
  return { severity: 'warning', code, pointer, message: reasonText(reason), reason };
}

function error(code: TemplateProblem['code'], pointer: string, reason: Reason): TemplateProblem {
  return { severity: 'error', code, pointer, message: reasonText(reason), reason };
}

/** The problem for one of the renderer's own refusals; any other error is rethrown. */
function reasonOf(thrown: unknown, pointer: string): Omit<TemplateProblem, 'severity'> {
  const fault = thrown instanceof JobFaultError ? thrown.fault : undefined;
  const code = thrown instanceof ElementFault ? thrown.code : fault?.code;
  if (code !== 'template-invalid' && code !== 'value-invalid' && code !== 'does-not-fit') throw thrown;
  const message = thrown instanceof Error ? thrown.message : '';
  const said = thrown instanceof ElementFault ? thrown.said : fault?.reason;
  return { code, pointer: fault?.element ?? pointer, message, ...reasonIn(said) };
}

/** The fields that the template's texts use, with the place of the first use. */
function usedFields(template: Template): Map<string, string> {
  const used = new Map<string, string>();
  const note = (field: string, pointer: string) => used.set(field, used.get(field) ?? pointer);
  if (template.language === 'zpl') {
    for (const field of templateFields({ ...template, fields: [] })) note(field, '/source');
    return used;
  }
  if (template.language === 'document') {
    for (const { name } of template.fields) note(name, '/fields/0');
    return used;
  }
  for (const { pointer, text } of templateTexts(template)) {
    for (const field of fieldsIn(text, pointer)) note(field, pointer);
  }
  return used;
}

function fieldProblems(template: Template): TemplateProblem[] {
  let used: Map<string, string>;
  try {
    used = usedFields(template);
  } catch {
    // The error is reported when the text itself is checked. Without its fields nobody can say which others are unused.
    return [];
  }
  const problems: TemplateProblem[] = [];
  const declared = new Set(template.fields.map(({ name }) => name));
  for (const [index, { name }] of template.fields.entries()) {
    const pointer = `/fields/${index}`;
    if (name === '__proto__') problems.push(error('template-invalid', pointer, UNSENDABLE));
    else if (isBuiltIn(name))
      problems.push(error('template-invalid', pointer, because('field-built-in', { field: name })));
    else if (!used.has(name)) problems.push(warning('field-unused', pointer, because('field-unused', {})));
  }
  for (const [field, pointer] of used) {
    if (field === '__proto__') problems.push(error('template-invalid', pointer, UNSENDABLE));
    if (declared.has(field)) continue;
    const said = because('field-undeclared', { field });
    problems.push(warning('field-undeclared', pointer, said));
  }
  return problems;
}

/** Conditions that are allowed without a placeholder: the element is switched on or off by hand. */
const SWITCHES = new Set(['', '0', '1', 'true', 'false']);

/** Any other condition that is the same for every label is taken for a field whose braces were forgotten. */
function conditionProblems(template: Template): TemplateProblem[] {
  if (template.language !== 'platen') return [];
  return template.elements.flatMap(({ when }, index) => {
    if (when === undefined || when.includes('{{') || SWITCHES.has(when.trim().toLowerCase())) return [];
    const found = JSON.stringify(when.slice(0, 60));
    const placeholder = `{{${when.trim().slice(0, 60)}}}`;
    const said = because('condition-constant', { found, placeholder });
    return [error('template-invalid', `/elements/${index}/when`, said)];
  });
}

function sizeProblems(template: Template, format: CheckTarget): TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const { dpi, width, height } = template;
  if (dpi !== undefined && dpi !== format.dpi) {
    const said = because('dpi-mismatch', { designed: dpi, format: format.dpi });
    problems.push(warning('size-mismatch', '/dpi', said));
  }
  if (width === undefined || height === undefined) return problems;
  if (format.width === undefined || format.height === undefined) return problems;
  const media = { width: format.width, height: format.height };
  const near = (a: number, b: number) => Math.abs(a - b) <= SIZE_TOLERANCE;
  const fits = (a: number, b: number) => near(a, media.width) && near(b, media.height);
  const fitting = (size: { width: number; height: number }) =>
    fits(size.width, size.height) || fits(size.height, size.width);
  // A template with a sheet prints on sheets or, label by label, on a roll.
  const sheet = template.language === 'platen' ? template.sheet : undefined;
  if (fitting({ width, height }) || (sheet !== undefined && fitting(sheet))) return problems;
  const onto = { mediaWidth: media.width, mediaHeight: media.height };
  const said =
    sheet === undefined
      ? because('label-mismatch', { width, height, ...onto })
      : because('sheet-mismatch', { width: sheet.width, height: sheet.height, ...onto });
  problems.push(warning('size-mismatch', sheet === undefined ? '/width' : '/sheet/width', said));
  return problems;
}

/** A record of the fields' samples or defaults, and the names of the fields that have one. */
function sampleRecord({ fields }: Template): { record: LabelRecord; known: ReadonlySet<string> } {
  const entries = fields.flatMap(({ name, sample, default: fallback }): [string, string][] => {
    const value = sample ?? fallback;
    return value === undefined ? [] : [[name, value]];
  });
  const record = numbered(Object.fromEntries(entries), 0);
  return { record, known: new Set(Object.keys(record)) };
}

/** @param media what is known of the media; without a format, the template's own size and resolution */
function rawProblems(template: RawZplTemplate, media: RawMedia, rules: RawRules): TemplateProblem[] {
  const placement = () =>
    rawPlacementFaults(template, media).map(({ code, reason }) => warning(code, '/source', reason));
  let certain = true;
  try {
    const raw = compileRawZpl(template, SAMPLE_JOB, rules);
    const { record, known } = sampleRecord(template);
    certain = raw.fields.length === 0;
    if (raw.fields.every((field) => known.has(field))) raw.check(record);
    return [...leftOut(raw), ...placement()];
  } catch (thrown) {
    const problem = { severity: certain ? 'error' : 'warning', ...reasonOf(thrown, '/source') } as const;
    return certain ? [problem] : [problem, ...placement()];
  }
}

function leftOut({ leftOut: commands }: RawZpl): TemplateProblem[] {
  return commands.map(({ code, line, reason }) =>
    warning('left-out', '/source', becauseOf('left-out', { line, command: code }, reason)),
  );
}

async function designProblems(
  template: DesignedTemplate,
  dpis: readonly number[],
  at: Progress,
  drawn?: DrawnElements,
): Promise<TemplateProblem[]> {
  const found = new Map<string, { problem: TemplateProblem; dpis: number[] }>();
  const { record, known } = sampleRecord(template);
  const assets = drawn?.assets ?? createAssets(template);
  for (const dpi of dpis) {
    const elements = () => drawn ?? new DrawnElements(template, { dpi, job: SAMPLE_JOB, record, assets });
    for (const problem of await problemsAt(template, elements, known, dpi, at)) {
      const key = `${problem.severity} ${problem.code} ${problem.pointer}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { problem, dpis: [dpi] });
      else if (known.dpis.at(-1) !== dpi) known.dpis.push(dpi);
    }
  }
  const problems = [...found.values()].map(({ problem, dpis: some }) => {
    if (some.length === dpis.length) return problem;
    const message = `${problem.message} (at ${some.join(' and ')} dpi)`;
    return { ...problem, severity: 'warning' as const, message, dpis: some };
  });
  return [
    ...problems,
    ...(await imageProblems(template, assets.images, at)),
    ...fontProblems(template, assets.fonts, at),
  ];
}

async function problemsAt(
  template: DesignedTemplate,
  made: () => DrawnElements,
  known: ReadonlySet<string>,
  dpi: number,
  at: Progress,
): Promise<TemplateProblem[]> {
  const problems: TemplateProblem[] = [];
  const drawn = new Map<number, readonly Item[]>();
  let elements: DrawnElements;
  try {
    elements = made();
    const { sheet } = template;
    if (sheet !== undefined) requireDots('sheet', mediaGrid(sheet, { dpi, orientation: 'portrait' }), dpi);
  } catch (thrown) {
    return [{ severity: 'error', ...reasonOf(thrown, '/timeZone') }];
  }
  const { grid } = elements;
  for (const index of template.elements.keys()) {
    const pointer = `/elements/${index}`;
    at(pointer);
    await breathe();
    let compiled: ElementLayout | undefined;
    try {
      compiled = await elements.compiled(index);
      if (!compiled.fields.every((field) => known.has(field))) continue;
      const items = await elements.items(index);
      drawn.set(index, items);
      problems.push(...offLabel(items, grid, pointer), ...borrowed(items, pointer));
    } catch (thrown) {
      const sampled = compiled !== undefined && compiled.fields.length > 0;
      const { message, ...reason } = reasonOf(thrown, pointer);
      problems.push({
        severity: sampled ? 'warning' : 'error',
        ...reason,
        message: sampled ? `with the samples of the fields: ${message}` : message,
        ...(sampled ? { sampled } : {}),
      });
    }
  }
  for (const [index, other] of quietZoneConflicts(template, drawn, dpi, at)) {
    const said = because('quiet-zone', { other: `/elements/${other}` });
    problems.push(warning('quiet-zone', `/elements/${index}`, said));
  }
  return problems;
}

function offLabel(items: readonly Item[], grid: LabelGrid, pointer: string): TemplateProblem[] {
  if (itemsWhollyOff(items, grid)) return [error('off-label', pointer, because('off-label', {}))];
  if (!itemsOffLabel(items, grid)) return [];
  return [warning('off-label', pointer, because('over-edge', {}))];
}

/** Warns of text whose own font lacks a character: the character prints in another font. */
function borrowed(items: readonly Item[], pointer: string): TemplateProblem[] {
  for (const item of items) {
    if (item.kind !== 'text' || typeof item.face === 'string') continue;
    const char = firstWithout(item.text, [item.face.characters]);
    if (char === null) continue;
    const said = because('glyph-borrowed', { character: codePoint(char) });
    return [warning('glyph-borrowed', pointer, said)];
  }
  return [];
}

function fontProblems(template: DesignedTemplate, fonts: FontSet, at: Progress): TemplateProblem[] {
  const used = new Set(template.elements.map((element) => (element.type === 'text' ? faceKey(element) : '')));
  return template.fonts.flatMap((font, index) => {
    at(`/fonts/${index}`);
    const wish = { font: font.name, bold: font.bold, italic: font.italic };
    try {
      fonts.face(wish);
    } catch (thrown) {
      if (!(thrown instanceof FontFault)) throw thrown;
      return [error('template-invalid', `/fonts/${index}/data`, thrown.said)];
    }
    if (used.has(faceKey(wish))) return [];
    return [warning('font-unused', `/fonts/${index}`, because('font-unused', {}))];
  });
}

function faceKey({ font, bold, italic }: FaceWish): string {
  return JSON.stringify([font, bold, italic]);
}

async function imageProblems(
  template: DesignedTemplate,
  images: ImageSet,
  at: Progress,
): Promise<TemplateProblem[]> {
  const problems: TemplateProblem[] = [];
  const names = template.elements.flatMap((element) =>
    element.type === 'image' ? [element.image ?? ''] : [],
  );
  const chosen = names.some((name) => name.includes('{{'));
  for (const [index, { name }] of template.images.entries()) {
    const pointer = `/images/${index}`;
    at(pointer);
    if (!chosen && !names.includes(name)) {
      problems.push(warning('image-unused', pointer, because('image-unused', {})));
    }
    try {
      await images.named(name);
    } catch (thrown) {
      if (!(thrown instanceof PictureFault)) throw thrown;
      problems.push(error('template-invalid', `${pointer}/data`, thrown.said));
    }
  }
  return problems;
}

function moduleProblems(template: DesignedTemplate, dpi: number): TemplateProblem[] {
  return template.elements.flatMap((element, index) => {
    if (element.type !== 'barcode' || element.moduleDots !== undefined) return [];
    const printed = millimetres(Math.max(1, dots(element.module, dpi)), dpi);
    if (Math.abs(printed - element.module) / element.module <= MODULE_TOLERANCE) return [];
    const said = because('module-rounded', { module: element.module, printed: printed.toFixed(3), dpi });
    return [warning('module-rounded', `/elements/${index}/module`, said)];
  });
}
