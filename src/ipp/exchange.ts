/** What every IPP request must have, and what every answer has (RFC 8011 §4.1). */
import type { IppAttribute, IppGroup, IppMessage } from '../../drivers/ipp/message.ts';
import { STATUS_CODES, type StatusName } from '../../drivers/ipp/names.ts';
import { IppRefusal } from './refusal.ts';
import { text } from './values.ts';

/** IPP counts octets, 1023 in a text; a UTF-16 unit is at most three. */
const LONGEST_MESSAGE = 341;

/** An answer to a request that may not even have been read. */
export function reply(
  to: Pick<IppMessage, 'version' | 'requestId'>,
  status: StatusName,
  message: string,
  unsupported: readonly IppAttribute[] = [],
  groups: readonly IppGroup[] = [],
): IppMessage {
  const attributes: IppAttribute[] = [
    { name: 'attributes-charset', values: [{ tag: 'charset', value: 'utf-8' }] },
    { name: 'attributes-natural-language', values: [{ tag: 'naturalLanguage', value: 'en' }] },
    ...(message === '' ? [] : [text('status-message', message.slice(0, LONGEST_MESSAGE))]),
  ];
  return {
    version: to.version.major === 1 ? { major: 1, minor: 1 } : { major: 2, minor: 0 },
    code: STATUS_CODES[status],
    requestId: Math.max(0, to.requestId),
    groups: [
      { tag: 'operation', attributes },
      ...(unsupported.length > 0 ? [{ tag: 'unsupported' as const, attributes: [...unsupported] }] : []),
      ...groups,
    ],
    data: Buffer.alloc(0),
  };
}

/** The operation attributes, which begin with charset and language (RFC 8011 §4.1.4). @throws IppRefusal */
export function operationAttributes({ groups }: IppMessage): readonly IppAttribute[] {
  const [first] = groups;
  const attributes = first?.tag === 'operation' ? first.attributes : [];
  const charset = attributes[0]?.values[0];
  const language = attributes[1]?.values[0];
  if (attributes[0]?.name !== 'attributes-charset' || charset?.tag !== 'charset') {
    throw new IppRefusal('client-error-bad-request', 'the first attribute is not attributes-charset');
  }
  if (attributes[1]?.name !== 'attributes-natural-language' || language?.tag !== 'naturalLanguage') {
    throw new IppRefusal(
      'client-error-bad-request',
      'the second attribute is not attributes-natural-language',
    );
  }
  if (!['utf-8', 'us-ascii'].includes(charset.value.toLowerCase())) {
    throw new IppRefusal('client-error-charset-not-supported', 'utf-8 is supported');
  }
  return attributes;
}

/** The printer-uri or job-uri is one of the printer's at this path. @throws IppRefusal */
export function checkTarget(uri: string, printer: string): void {
  const path = pathOf(uri);
  if (path === undefined) throw new IppRefusal('client-error-bad-request', 'not an ipp URI');
  if (path !== printer && !path.startsWith(`${printer}/`)) {
    throw new IppRefusal('client-error-not-found', `the printer is at ${printer}`);
  }
}

/** The path of an ipp URI as it stands there. */
export function pathOf(uri: string): string | undefined {
  return /^ipps?:\/\/[^/]+(\/[^?#]*)/i.exec(uri)?.[1];
}
