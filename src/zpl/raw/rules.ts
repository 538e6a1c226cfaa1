/**
 * Decides which commands a raw ZPL template may have. A printer is often shared, and keeps its settings. So a template may only
 * draw its label, and commands that change the printer for others are refused by name, unless the tenant is allowed printer
 * commands. Set-up commands that labels commonly carry are left out, because the printer's format makes these settings.
 *
 * Source: ZPL II Programming Guide, the commands named.
 */
import { because, becauseOf, type Reason, type ReasonCode } from '../../contract/reason.ts';
import { isFont, words } from '../commands.ts';
import { type RawCommand, rawFault } from './commands.ts';

/** What becomes of a command: it is sent as it stands, or left out for a reason. */
type Ruling = { readonly keep: true } | { readonly keep: false; readonly reason: Reason };

const KEEP: Ruling = { keep: true };

/** Commands for the label's position, contents and quantity. */
const LABEL =
  words(`XA XZ FS FO FT FD FV FH FX FN FB TB FR FW FP FC FM CF CI CV CW GB GC GD GE GF GS XG IM IL XF
  LH LL LR LS LT MU MC PM PO PQ PW PA RB RF XB`);
const BARCODE = /^B[0-9ABCDEFIJKLMOPQRSTUXYZ]$/;

/** Set-up commands that labels carry, each with the member of a printer's format for the same setting, if there is one. */
const SET_UP: Readonly<Record<string, string | undefined>> = {
  '~SD': 'darkness',
  '^MD': 'darknessOffset',
  '^PR': 'speed',
  '^MN': 'mediaTracking',
  '^MM': 'printMode',
  '^MT': 'thermalMode',
  '^MF': undefined,
  '^ML': undefined,
  '^DN': undefined,
  '~DN': undefined,
  '~JN': undefined,
  '~JO': undefined,
  '~JS': undefined,
  '~TA': undefined,
};

/** What refused commands do. Commands that are not named here are refused because they do not draw. */
const DOES: Readonly<Record<string, DoesCode>> = {
  '^CO': 'does-memory',
  '^EF': 'does-delete',
  '^EG': 'does-delete',
  '^FL': 'does-fonts',
  '^ID': 'does-delete',
  '^IS': 'does-store',
  '^JB': 'does-memory',
  '^JI': 'does-basic',
  '^JJ': 'does-ports',
  '^JM': 'does-resolution',
  '^JS': 'does-sensors',
  '^JT': 'does-head-test',
  '^JU': 'does-configuration',
  '^JZ': 'does-errors',
  '^KD': 'does-clock',
  '^KL': 'does-language',
  '^KN': 'does-name',
  '^KP': 'does-password',
  '^KV': 'does-kiosk',
  '^MA': 'does-alerts',
  '^MI': 'does-alerts',
  '^MP': 'does-panel',
  '^MW': 'does-alerts',
  '^NB': 'does-network',
  '^NC': 'does-network',
  '^ND': 'does-network',
  '^NI': 'does-network',
  '^NN': 'does-network',
  '^NP': 'does-network',
  '^NS': 'does-network',
  '^NT': 'does-network',
  '^NW': 'does-network',
  '^PF': 'does-feed',
  '^PH': 'does-feed',
  '^PP': 'does-pause',
  '^RZ': 'does-rfid-passwords',
  '^SE': 'does-encoding',
  '^SL': 'does-clock',
  '^SO': 'does-clock',
  '^SP': 'does-early',
  '^SS': 'does-sensors',
  '^ST': 'does-clock',
  '^SZ': 'does-language',
  '^TO': 'does-copy',
  '^WF': 'does-rfid',
  '^ZZ': 'does-off',
};
type DoesCode = Extract<ReasonCode, `does-${string}`>;
/** `~` commands that no label may have, because they act at once, on other jobs too, or because the printer answers them. */
const AT_ONCE = /^~(?:H.|J[ABCDEFGILPQRX]|P[HPRS]|W.|EG|RO|KB)$/;
/** The letters of a printer's built-in fonts. The others are free for ^CW. */
const BUILT_IN_FONT = /^\s*[A-H0P-V]/i;

/**
 * @param setUp whether the command stands in a format that prints nothing; label designers write one before the label
 * @param allowed whether the tenant may send printer commands
 * @throws JobFaultError `template-invalid`: the template may not have the command
 */
export function ruling(command: RawCommand, setUp: boolean, allowed: boolean): Ruling {
  const { code, params, line } = command;
  // A printer also ignores a prefix without a name.
  if (code.length < 2) return { keep: false, reason: because('begins-no-command', {}) };
  refuseAlways(command);
  if (code.startsWith('^') && draws(code.slice(1))) {
    const does = labelCommandThatLasts(code, params);
    if (does === undefined || allowed) return KEEP;
    throw refusal(code, does, line);
  }
  if (allowed) return KEEP;
  if (code in SET_UP || isHarmless(code, params, setUp)) {
    const member = SET_UP[code];
    const reason = member === undefined ? because('set-up', {}) : because('set-up-member', { member });
    return { keep: false, reason };
  }
  throw refusal(code, DOES[code] ?? 'does-not-draw', line);
}

function draws(name: string): boolean {
  return LABEL.has(name) || BARCODE.test(name) || isFont(name);
}

/** Set-up commands that can be left out without effect. */
function isHarmless(code: string, params: string, setUp: boolean): boolean {
  const value = params.trim().toUpperCase();
  // ^SZ2 and ^JMA set the usual language and resolution. ^JUS would save a set-up that is left out here.
  return (
    (code === '^SZ' && value === '2') ||
    (code === '^JM' && value === 'A') ||
    (code === '^JU' && value === 'S' && setUp)
  );
}

/** The change that a label command would leave in the printer, and that no reset undoes. Undefined: it leaves none. */
function labelCommandThatLasts(code: string, params: string): DoesCode | undefined {
  if (code === '^MC' && /^\s*N/i.test(params)) return 'does-overprint';
  if (code === '^CW' && BUILT_IN_FONT.test(params)) return 'does-replace-font';
  return undefined;
}

function refusal(command: string, does: DoesCode, line: number): Error {
  return rawFault(becauseOf('zpl-for-all', { command }, because(does, {})), line);
}

/** Refuses commands that no tenant may use, because labels would get lost, doubled or mixed up. */
function refuseAlways({ code, params, line }: RawCommand): void {
  // Copies are sent in parts, and are sent again from where the connection broke. A serial number would then start again.
  if (code === '^SN' || code === '^SF') {
    throw rawFault(because('zpl-counts', { command: code }), line);
  }
  if (code === '^WD') throw rawFault(because('zpl-other-label', {}), line);
  // The printer's reply, which may even be the record's own data, would be taken for the answer to a status query.
  if (/^\^H.$/.test(code)) throw rawFault(because('zpl-answers', { command: code }), line);
  if (AT_ONCE.test(code)) {
    throw rawFault(because('zpl-at-once', { command: code }), line);
  }
  // A printer counts binary data by its length, even over the commands behind it and the next label.
  if (code === '^GF' && !/^\s*(?:A\s*)?(?:,|$)/i.test(params)) {
    throw rawFault(because('zpl-binary', {}), line);
  }
}
