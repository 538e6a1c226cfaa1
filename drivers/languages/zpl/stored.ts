/**
 * Stored formats for ZPL: a batch sends what its labels have in common once, and then only what differs.
 *
 * ZPL II Programming Guide, "^DF – Download Format", "^XF – Recall Format", "^FN – Field Number", "^ID –
 * Object Delete". ^DF stores commands as text, and the printer replaces ^XF with that text; so a recalled
 * label starts from the same known settings as one that is sent whole.
 *
 * One of the job's records is the pattern: its fields that the printer draws itself are stored, the variable
 * ones as ^FN. A field of another record with the same place and appearance is sent as ^FN with its data; any
 * other (a graphic, text that was centred or shrunk elsewhere) is sent whole in that record's format, and so
 * is painted after everything that is stored. Where the changed order would change the picture, which takes
 * something white, and where a label lacks a stored box or barcode, the label is sent whole, as if alone. (An
 * ^FN that gets no data prints nothing; interpreters are not sure of that for a barcode.)
 *
 * R: is memory that a printer loses with its power. `begin` sends the format again whenever an encoder is
 * opened again, and the agent opens it again on every new connection. Where something between agent and
 * printer hides the printer's power cycles, the printer format's `storedFormats: false` sends every label
 * whole.
 */
import { setImmediate } from 'node:timers/promises';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { ownName } from '../../../src/programs/program.ts';
import type { DisplayList, Item, Rect } from '../../../src/render/display-list.ts';
import { itemBounds } from '../../../src/render/item-bounds.ts';
import type { CompiledLabel } from '../../../src/render/label-layout.ts';
import { completeField, dataEnd, drawnFields, type NativeField, nativeField } from './designed.ts';

/** Fewer records are sent label by label. */
const FEWEST_RECORDS = 3;
/** Labels that are looked at to find the pattern. */
const SAMPLES = 16;
/** "^FN": 400 fields or fewer are recommended. */
const MOST_FIELDS = 400;
/** A stored format larger than this would crowd the memory of small printers, bytes. */
const LARGEST = 64 * 1024;

/** A field that labels cannot be recalled without is stored if at least this share of the samples has it. */
const COMMON = 0.75;

/** A field of the stored format. */
interface Slot {
  readonly item: Item;
  readonly frame: string;
  /** Its ^FN; undefined: it has no data. */
  readonly number: number | undefined;
  /** A label without it cannot be recalled. */
  readonly required: boolean;
}

interface StoredFormat {
  /** Stores it; sent before the first label. */
  readonly begin: string;
  /** Deletes it; sent after the last. */
  readonly end: string;
  /** The fields of one label, after ^XA; undefined: this label has to be sent whole. */
  recall(list: DisplayList): { zpl: string; canvas: boolean } | undefined;
}

/** What a batch's formats are made of. */
interface BatchParts {
  readonly job: QueuedJob;
  readonly label: CompiledLabel;
  /** ZPL of the fixed items, as it is sent. */
  readonly fixed: ReadonlyMap<Item, string>;
  /** Settings at the start of a format, after ^XA. */
  readonly settings: string;
}

/**
 * The stored format for a job, undefined where it would not save bytes. The same job always gives the same one.
 * A record that cannot be made is passed over here; it fails where its label is made.
 */
export async function storedFormat(parts: BatchParts): Promise<StoredFormat | undefined> {
  const { job, label } = parts;
  // Labels per record that differ; the printer makes equal copies itself.
  const each = label.countsCopies ? job.copies : 1;
  const count = job.records.length * each;
  if (count < FEWEST_RECORDS || job.format.storedFormats === false) return undefined;
  const samples: DisplayList[] = [];
  for (let at = 0; at < Math.min(SAMPLES, count); at++) {
    const index = Math.floor((at * count) / Math.min(SAMPLES, count));
    try {
      const record = Math.floor(index / each);
      samples.push(label.layout(job.records[record] ?? {}, record, index % each));
    } catch {}
  }
  const slots = patternSlots(samples, parts);
  const name = ownName(job.jobId, 'P');
  const text = slots
    .map(({ item, frame, number }) =>
      number === undefined ? (parts.fixed.get(item) ?? frame) : `${frame}^FN${number}^FS`,
    )
    .join('');
  const begin = `^XA^DFR:${name}^FS${parts.settings}${text}^XZ`;
  const end = `^XA^IDR:${name}.ZPL^FS^XZ`;
  const stored: StoredFormat = { begin, end, recall: (list) => recall(list, name, slots, parts) };
  if (begin.length > LARGEST || slots.length === 0) return undefined;

  let saved = 0;
  for (const list of samples) {
    const short = stored.recall(list);
    saved += short === undefined ? 0 : wholeLength(list, parts) - short.zpl.length;
    await setImmediate();
  }
  return (saved / samples.length) * count > begin.length + end.length ? stored : undefined;
}

function variableFields(list: DisplayList, { fixed }: BatchParts): NativeField[] {
  return list.items.flatMap((item) => (fixed.has(item) ? [] : (nativeField(item, list) ?? [])));
}

/** The fields of the pattern: the sample whose fields stand where most other samples have theirs. */
function patternSlots(samples: readonly DisplayList[], parts: BatchParts): Slot[] {
  const frames = samples.map((list) => variableFields(list, parts).map(({ frame }) => frame));
  const seen = new Map<string, number>();
  for (const frame of frames.flat()) seen.set(frame, (seen.get(frame) ?? 0) + 1);
  const scores = frames.map((own) => own.reduce((sum, frame) => sum + (seen.get(frame) ?? 0), 0));
  const list = samples[scores.indexOf(Math.max(...scores))];
  if (list === undefined) return [];
  let numbers = 0;
  // What is not stored is painted last, and so has to be all that is painted over it.
  const after: Item[] = [];
  const notStored = (item: Item): Slot[] => {
    after.push(item);
    return [];
  };
  return list.items.flatMap((item): Slot[] => {
    if (parts.fixed.has(item)) return [{ item, frame: '', number: undefined, required: true }];
    const field = numbers < MOST_FIELDS ? nativeField(item, list) : undefined;
    if (field?.frame === '') return [];
    if (field === undefined || after.some((other) => orderMatters(other, item))) return notStored(item);
    const { frame } = field;
    const required = item.kind !== 'text';
    if (required && (seen.get(frame) ?? 0) < COMMON * samples.length) return notStored(item);
    return [{ item, frame, number: field.data === undefined ? undefined : ++numbers, required }];
  });
}

function recall(
  list: DisplayList,
  name: string,
  slots: readonly Slot[],
  { fixed }: BatchParts,
): { zpl: string; canvas: boolean } | undefined {
  let data = '';
  let whole = '';
  let canvas = false;
  let escaped = false;
  const after: Item[] = [];
  let next = 0;
  for (const item of list.items) {
    const own = fixed.has(item);
    const field = own ? undefined : nativeField(item, list);
    if (field?.frame === '') continue;
    let at = next;
    while (at < slots.length && !(own ? slots[at]?.item === item : slots[at]?.frame === field?.frame)) at++;
    const slot = field === undefined && !own ? undefined : slots[at];
    if (slot !== undefined) {
      if (slots.slice(next, at).some(({ required }) => required)) return undefined;
      if (after.some((other) => orderMatters(other, item))) return undefined;
      next = at + 1;
      if (field?.data === undefined || field.data === '') continue;
      data += `^FN${slot.number}${dataEnd(field.data, field.escaped)}`;
      escaped ||= field.escaped;
      continue;
    }
    if (own) return undefined;
    after.push(item);
    if (field !== undefined) whole += completeField(field);
    else {
      const drawn = drawnFields(item, list);
      whole += drawn.zpl;
      canvas ||= drawn.canvas;
    }
  }
  if (slots.slice(next).some(({ required }) => required)) return undefined;
  // Escaped data may be UTF-8, so ^CI28 comes before the first value.
  return { zpl: `${escaped ? '^CI28' : ''}^XFR:${name}^FS${data}${whole}`, canvas };
}

/** Would the label look different if the two were painted the other way round? */
function orderMatters(a: Item, b: Item): boolean {
  return (isWhite(a) || isWhite(b)) && overlap(itemBounds(a), itemBounds(b));
}

function isWhite(item: Item): boolean {
  return 'ink' in item && item.ink === 'white';
}

function overlap(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** The length of a label's fields and settings when it is sent alone. Graphics count nothing: they cost the same. */
function wholeLength(list: DisplayList, { fixed, settings }: BatchParts): number {
  return list.items.reduce((sum, item) => {
    const known = fixed.get(item);
    if (known !== undefined) return sum + known.length;
    const field = nativeField(item, list);
    return sum + (field === undefined ? drawnFields(item, list).zpl.length : completeField(field).length);
  }, settings.length);
}
