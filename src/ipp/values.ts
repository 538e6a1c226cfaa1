/** Short constructors for IPP attributes. */
import type { IppAttribute, IppValue } from '../../drivers/ipp/message.ts';

export type Make<Value> = (name: string, ...values: Value[]) => IppAttribute;

function maker<Value>(value: (value: Value) => IppValue): Make<Value> {
  return (name, ...values) => ({ name, values: values.map(value) });
}

export const integer = maker((value: number) => ({ tag: 'integer', value }));
export const enumeration = maker((value: number) => ({ tag: 'enum', value }));
export const boolean = maker((value: boolean) => ({ tag: 'boolean', value }));
export const keyword = maker((value: string) => ({ tag: 'keyword', value }));
export const named = maker((value: string) => ({ tag: 'name', value }));
export const text = maker((value: string) => ({ tag: 'text', value }));
export const uri = maker((value: string) => ({ tag: 'uri', value }));
export const mimeType = maker((value: string) => ({ tag: 'mimeMediaType', value }));
export const dpi = maker((value: number) => ({ tag: 'resolution', x: value, y: value, unit: 'dpi' }));
export const range = maker(([min, max]: readonly [number, number]) => ({ tag: 'rangeOfInteger', min, max }));
export const collection = maker((value: IppAttribute[]) => ({ tag: 'collection', value }));
/** A time in ms since 1970; undefined: it has not come yet. */
export const dateTime = maker((value: number | undefined) =>
  value === undefined ? { tag: 'no-value' } : { tag: 'dateTime', value: new Date(value), offset: 0 },
);
/** An integer that may not be known yet. */
export const integerOrNone = maker((value: number | undefined) =>
  value === undefined ? { tag: 'no-value' } : { tag: 'integer', value },
);
