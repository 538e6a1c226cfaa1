/** IPP requests as a client of anybody's makes them. */
import type { IppAttribute, IppMessage } from '../../../drivers/ipp/message.ts';
import { OPERATIONS, type OperationName } from '../../../drivers/ipp/names.ts';

/** @param more attributes of the operation, after those that each has */
export function ippRequest(operation: OperationName, uri: string, ...more: IppAttribute[]): IppMessage {
  const attributes: IppAttribute[] = [
    { name: 'attributes-charset', values: [{ tag: 'charset', value: 'utf-8' }] },
    { name: 'attributes-natural-language', values: [{ tag: 'naturalLanguage', value: 'en' }] },
    { name: 'printer-uri', values: [{ tag: 'uri', value: uri }] },
    ...more,
  ];
  return {
    version: { major: 2, minor: 0 },
    code: OPERATIONS[operation],
    requestId: 1,
    groups: [{ tag: 'operation', attributes }],
    data: Buffer.alloc(0),
  };
}
