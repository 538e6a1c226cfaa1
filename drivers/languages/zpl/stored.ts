/**
 * Stored formats for ZPL: a batch sends what its labels have in common only once, and then only what differs.
 *
 * ZPL II Programming Guide, "^DF – Download Format", "^XF – Recall Format", "^FN – Field Number", "^ID – Object Delete". ^DF
 * stores commands as text, and the printer replaces ^XF with that text. So a recalled label starts from the same known settings
 * as one that is sent whole.
 *
 * One of the job's labels is the pattern. Its fields that the printer draws itself are stored, the variable ones as ^FN. If a
 * field of another label has the same place and appearance, it is sent as ^FN with its data. Any other field (a graphic, or
 * text that was centred or shrunk to another place) is sent whole in that label's format, and so is painted after everything
 * that is stored. A label is sent whole, as if it were alone, in two cases: the changed order would change the picture, which
 * takes something white; or the label lacks a stored box or barcode. (An ^FN that gets no data prints nothing, but interpreters
 * differ in that for a barcode.)
 *
 * R: is memory that a printer loses with its power. `begin` sends the format again whenever an encoder is opened again, and the
 * agent opens it again on every new connection. If something between agent and printer hides the printer's power cycles,
 * `storedFormats: false` in the printer's format makes every label be sent whole.
 */
import { setImmediate } from 'node:timers/promises';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { ownName } from '../../../src/programs/program.ts';
import type { DisplayList, Item, Rect } from '../../../src/render/display-list.ts';
import { itemBounds } from '../../../src/render/item-bounds.ts';
import type { CompiledLabel } from '../../../src/render/label-layout.ts';
import { completeField, dataEnd, drawnFields, type NativeField, nativeField } from './designed.ts';

/** A job with fewer labels that differ sends each label whole. */
const FEWEST_RECORDS = 3;
/** How many labels are looked at to find the pattern. */
const SAMPLES = 16;
/** "^FN": 400 fields or fewer are recommended. */
const MOST_FIELDS = 400;
/** The most bytes of a stored format. A larger one would crowd the memory of small printers. */
const LARGEST = 64 * 1024;

/** A field without which labels cannot be recalled is stored if at least this share of the samples has it. */
const COMMON = 0.75;

/** A field of the stored format. */
interface Slot {
  readonly item: Item;
  readonly frame: string;
  /** The number of its ^FN. Undefined: the field has no data. */
  readonly number: number | undefined;
  /** Whether a label that lacks the field cannot be recalled. */
  readonly required: boolean;
}

interface StoredFormat {
  /** Stores the format; sent before the first label. */
  readonly begin: string;
  /** Deletes the format; sent after the last label. */
  readonly end: string;
  /** The fields of one label, for use after ^XA. Undefined: this label has to be sent whole. */
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
 * The stored format for a job; undefined if it would not save bytes. The same job always gives the same format. A record that
 * cannot be made is passed over here. It fails when its label is made.
 */
export async function storedFormat(parts: BatchParts): Promise<StoredFormat | undefined> {
  const { job, label } = parts;
  // How many labels of a record differ. The printer makes equal copies itself.
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

/** The fields of the pattern, which is the sample whose fields stand where most other samples have theirs. */
function patternSlots(samples: readonly DisplayList[], parts: BatchParts): Slot[] {
  const frames = samples.map((list) => variableFields(list, parts).map(({ frame }) => frame));
  const seen = new Map<string, number>();
  for (const frame of frames.flat()) seen.set(frame, (seen.get(frame) ?? 0) + 1);
  const scores = frames.map((own) => own.reduce((sum, frame) => sum + (seen.get(frame) ?? 0), 0));
  const list = samples[scores.indexOf(Math.max(...scores))];
  if (list === undefined) return [];
  let numbers = 0;
  // What is not stored is painted last. So whatever is painted over it must not be stored either.
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

/** Whether the label would look different if the two were painted the other way round. */
function orderMatters(a: Item, b: Item): boolean {
  return (isWhite(a) || isWhite(b)) && overlap(itemBounds(a), itemBounds(b));
}

function isWhite(item: Item): boolean {
  return 'ink' in item && item.ink === 'white';
}

function overlap(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** The length of a label's fields and settings if the label is sent whole. */
function wholeLength(list: DisplayList, { fixed, settings }: BatchParts): number {
  return list.items.reduce((sum, item) => {
    const known = fixed.get(item);
    if (known !== undefined) return sum + known.length;
    const field = nativeField(item, list);
    return sum + (field === undefined ? drawnFields(item, list).zpl.length : completeField(field).length);
  }, settings.length);
}
