/** Encodes planned chunks and documents as the bytes of a language. */
import type { LabelEncoder } from '../../drivers/languages/language.ts';
import { JobFaultError } from '../contract/fault.ts';
import type { PlannedChunk } from './chunk-plan.ts';

/** Encodes a chunk. If a fault names no record, the chunk's record is added. */
export async function encodeChunk(
  encoder: LabelEncoder,
  { record, count, copy }: PlannedChunk,
): Promise<Uint8Array> {
  try {
    return await encoder.label(record, count, copy);
  } catch (error) {
    if (error instanceof JobFaultError && error.fault.record === undefined) error.fault.record = record;
    throw error;
  }
}

/** Encodes a document. It stands alone, so it has all that goes before the labels and after them. */
export async function encodeDocument(
  encoder: LabelEncoder,
  plan: readonly PlannedChunk[],
): Promise<Uint8Array<ArrayBuffer>> {
  const parts = [encoder.begin()];
  if (encoder.document === undefined) {
    for (const chunk of plan) parts.push(await encodeChunk(encoder, chunk));
  } else {
    const runs = plan.map(({ record, count, copy }) => ({ record, copies: count, copy }));
    parts.push(await encoder.document(runs));
  }
  return joined([...parts, encoder.end()]);
}

/** Joins the parts in new memory, which can be handed to another thread. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
