/**
 * The attributes by which an IPP printer describes itself.
 *
 * Source: RFC 8011 §5.4 (printer description), PWG 5100.14 (IPP Everywhere), PWG 5100.13 and 5100.22 for the rest.
 */
import { type IppAttribute, stringsOf } from '../../drivers/ipp/message.ts';
import { OPERATIONS, type OperationName } from '../../drivers/ipp/names.ts';
import { ANY_FORMAT, PWG_RASTER } from './document.ts';
import { mediaCol } from './media.ts';
import { type Abilities, jobAttributes, templateAttributes } from './ticket.ts';
import { upTime } from './told-job.ts';
import {
  boolean,
  collection,
  dateTime,
  dpi,
  enumeration,
  integer,
  keyword,
  mimeType,
  named,
  range,
  text,
  uri,
} from './values.ts';

export interface IppIdentity {
  readonly name: string;
  /** The name that it announces itself by. */
  readonly announced: string;
  readonly make: string;
  readonly model: string;
  readonly uuid: string;
  readonly location: string;
}

const STATES = ['idle', 'processing', 'stopped'] as const;

/** The printer's current state. */
export interface IppPrinterState {
  readonly state: (typeof STATES)[number];
  /** printer-state-reasons, at least `none`. */
  readonly reasons: readonly string[];
  /** Jobs that have not ended. */
  readonly jobs: number;
}

/** An address of the printer, as the client reaches it. */
export interface IppAddress {
  /** `ipp://host:port/ipp/print`. */
  readonly uri: string;
  readonly security: 'none' | 'tls';
  /** uri-authentication-supported. */
  readonly authentication: 'requesting-user-name' | 'basic';
}

export interface IppPrinterView extends Abilities {
  readonly identity: IppIdentity;
  readonly state: IppPrinterState;
  readonly accepting: boolean;
  /** When the state last changed, and when the power came on, ms since 1970. */
  readonly changedAt: number;
  readonly since: number;
  /** The first is the one by which the client came. */
  readonly addresses: readonly [IppAddress, ...IppAddress[]];
  /** Its web page. */
  readonly web: string;
  /** IEEE 1284 device ID, by which a driver is chosen. Left out: it says none. */
  readonly deviceId?: string;
  /** MIME types of documents. */
  readonly formats: readonly string[];
  /** Labels printed in its life. Left out: not known. */
  readonly odometer?: number;
  readonly labelsPerMinute: number;
  /** Largest document, bytes. */
  readonly documentLimit: number;
  /** How long a job waits for its document, ms. */
  readonly documentWait: number;
}

/** The attributes asked for by name or by group; without any, all. */
export function printerAttributes(
  view: IppPrinterView,
  operations: readonly OperationName[],
  asked: readonly string[],
): IppAttribute[] {
  const template = templateAttributes(view);
  const description = descriptionAttributes(view, operations);
  // Too long to be part of `all` (PWG 5100.7 §6.3.1).
  const database = collection('media-col-database', ...view.rolls.map(mediaCol));
  const groups = { 'printer-description': description, 'job-template': template };
  return selected(asked, [...description, ...template], groups, [database]);
}

/** `groups`: what the names of groups stand for; `more`: what is only given when it is named. */
export function selected(
  asked: readonly string[],
  all: readonly IppAttribute[],
  groups: Readonly<Record<string, readonly IppAttribute[]>>,
  more: readonly IppAttribute[] = [],
): IppAttribute[] {
  if (asked.length === 0 || asked.includes('all')) {
    return [...all, ...more.filter(({ name }) => asked.includes(name))];
  }
  const names = new Set(asked);
  for (const [group, members] of Object.entries(groups)) {
    if (names.has(group)) for (const { name } of members) names.add(name);
  }
  return [...all, ...more].filter(({ name }) => names.has(name));
}

function descriptionAttributes(view: IppPrinterView, operations: readonly OperationName[]): IppAttribute[] {
  const { identity, state, addresses, web } = view;
  const now = Date.now();
  return [
    uri('printer-uri-supported', ...addresses.map((one) => one.uri)),
    keyword('uri-security-supported', ...addresses.map(({ security }) => security)),
    keyword('uri-authentication-supported', ...addresses.map(({ authentication }) => authentication)),
    named('printer-name', identity.name),
    named('printer-dns-sd-name', identity.announced),
    text('printer-info', identity.name),
    text('printer-location', identity.location),
    text('printer-make-and-model', `${identity.make} ${identity.model}`.trim()),
    ...(view.deviceId === undefined ? [] : [text('printer-device-id', view.deviceId)]),
    uri('printer-uuid', `urn:uuid:${identity.uuid}`),
    { name: 'printer-geo-location', values: [{ tag: 'unknown' }] },
    text('printer-organization', ''),
    text('printer-organizational-unit', ''),
    uri('printer-more-info', web),
    uri('printer-supply-info-uri', web),
    keyword('printer-kind', 'label'),
    enumeration('printer-state', 3 + STATES.indexOf(state.state)),
    keyword('printer-state-reasons', ...state.reasons),
    text('printer-state-message', state.reasons[0] === 'none' ? '' : state.reasons.join(', ')),
    integer('printer-state-change-time', upTime(view.changedAt, view.since)),
    dateTime('printer-state-change-date-time', view.changedAt),
    integer('printer-config-change-time', 1),
    dateTime('printer-config-change-date-time', view.since),
    integer('printer-up-time', upTime(now, view.since)),
    dateTime('printer-current-time', now),
    boolean('printer-is-accepting-jobs', view.accepting),
    integer('queued-job-count', state.jobs),
    ...(view.odometer === undefined
      ? []
      : [
          integer('printer-impressions-completed', view.odometer),
          integer('printer-media-sheets-completed', view.odometer),
        ]),
    boolean('color-supported', false),
    integer('pages-per-minute', view.labelsPerMinute),
    keyword('ipp-versions-supported', '1.1', '2.0'),
    keyword('ipp-features-supported', 'none'),
    enumeration('operations-supported', ...operations.map((name) => OPERATIONS[name])),
    boolean('multiple-document-jobs-supported', false),
    integer('multiple-operation-time-out', Math.max(1, Math.round(view.documentWait / 1000))),
    keyword('multiple-operation-time-out-action', 'abort-job'),
    { name: 'charset-configured', values: [{ tag: 'charset', value: 'utf-8' }] },
    { name: 'charset-supported', values: [{ tag: 'charset', value: 'utf-8' }] },
    { name: 'natural-language-configured', values: [{ tag: 'naturalLanguage', value: 'en' }] },
    { name: 'generated-natural-language-supported', values: [{ tag: 'naturalLanguage', value: 'en' }] },
    mimeType('document-format-default', ANY_FORMAT),
    mimeType('document-format-supported', ...view.formats),
    ...(view.formats.includes(PWG_RASTER) ? rasterAttributes(view) : []),
    keyword('compression-supported', 'none', 'gzip'),
    keyword('pdl-override-supported', 'attempted'),
    keyword('pdf-versions-supported', 'iso-32000-1_2008'),
    range('job-k-octets-supported', [0, Math.floor(view.documentLimit / 1024)]),
    boolean('job-ids-supported', true),
    boolean('preferred-attributes-supported', false),
    keyword('job-creation-attributes-supported', ...jobAttributes(view)),
    keyword('which-jobs-supported', 'completed', 'not-completed', 'all'),
    keyword('identify-actions-default', 'display'),
    keyword('identify-actions-supported', 'display'),
    keyword('printer-get-attributes-supported', 'document-format'),
  ];
}

/** Which PWG Raster is taken (PWG 5102.4 §7); others than of the printer's resolution are scaled. Nothing is printed on a back. */
function rasterAttributes(view: IppPrinterView): IppAttribute[] {
  return [
    keyword('pwg-raster-document-type-supported', 'black_1', 'sgray_8', 'srgb_8'),
    dpi('pwg-raster-document-resolution-supported', view.dpi),
    keyword('pwg-raster-document-sheet-back', 'normal'),
  ];
}

export function requested(operation: readonly IppAttribute[]): string[] {
  return stringsOf(operation, 'requested-attributes');
}
