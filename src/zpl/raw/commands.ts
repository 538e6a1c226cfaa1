/** Splits a raw ZPL program into its commands, each with its line. */
import { JobFaultError } from '../../contract/fault.ts';
import { because, becauseOf, type Reason, reasonText } from '../../contract/reason.ts';
import { changesSyntax, USUAL_SYNTAX } from '../commands.ts';

export interface RawCommand {
  /** `^FD`, `~DG`, …; upper case. */
  readonly code: string;
  readonly params: string;
  /** The command as it stands in the source. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** A command: ^A with its font, or a prefix and two characters. */
const COMMAND = /[\^~](?:[Aa][A-Za-z0-9@]|[^^~]{0,2})/y;
/**
 * A ~ begins a command only if a command's name can follow. Elsewhere it is a character, as in `^BXN,7,200,0,0,1,~`. A
 * placeholder counts as a name, because its value could be one.
 */
const PREFIX = /\^|~(?=\s*[A-Za-z0-9~{])/g;
/** Control characters that a printer obeys anywhere: STX, ETX and SI mean ^XA, ^XZ and ^FS, and others are flow control. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1b\x7f]/;
const NEW_LINE = 0x0a;
/** The most commands of a program, including the stored formats that it recalls. Each takes some two hundred bytes. */
export const MOST_COMMANDS = 200_000;

/** Makes the `template-invalid` error for a fault in the source, with its line. */
export function rawFault(why: Reason, line?: number): JobFaultError {
  const reason = line === undefined ? why : becauseOf('zpl-line', { line }, why);
  const message = `/source: ${reasonText(reason)}`;
  return new JobFaultError('template-invalid', message, { element: '/source', reason });
}

export function tooManyCommands(line: number | undefined): JobFaultError {
  return rawFault(because('zpl-commands-many', { most: MOST_COMMANDS }), line);
}

/**
 * Splits a program at its prefixes. `lead` is the text before the first prefix. Label designers begin with commands that set
 * the prefixes and the delimiter to their defaults (`CT~~CD,~CC^~CT~`); these are left out.
 * @throws JobFaultError `template-invalid`: a prefix or the delimiter is changed, or there is a control character
 */
export function rawCommands(source: string): { lead: string; commands: RawCommand[] } {
  const commands: RawCommand[] = [];
  let line = 1;
  let counted = 0;
  const lineAt = (at: number) => {
    for (; counted < at; counted++) if (source.charCodeAt(counted) === NEW_LINE) line++;
    return line;
  };
  const nextPrefix = (from: number) => {
    PREFIX.lastIndex = from;
    return PREFIX.exec(source)?.index ?? source.length;
  };
  const control = source.search(CONTROL);
  if (control >= 0) {
    const code = source.charCodeAt(control).toString(16).toUpperCase().padStart(2, '0');
    throw rawFault(because('zpl-control', { code }), lineAt(control));
  }
  const first = nextPrefix(0);
  for (let at = first; at < source.length; ) {
    COMMAND.lastIndex = at;
    const code = (COMMAND.exec(source)?.[0] ?? source.charAt(at)).toUpperCase();
    let from = at + code.length;
    const name = code.slice(1);
    const usual = changesSyntax(name) ? USUAL_SYNTAX[name] : undefined;
    if (usual !== undefined) {
      const named = source.charAt(from);
      if (named !== usual) {
        throw rawFault(because('zpl-syntax', { command: code }), lineAt(at));
      }
      from += 1;
    }
    const end = nextPrefix(from);
    const text = source.slice(at, end);
    if (usual === undefined) {
      commands.push({ code, params: source.slice(from, end), text, line: lineAt(at) });
    }
    if (commands.length > MOST_COMMANDS) throw tooManyCommands(line);
    at = end;
  }
  return { lead: source.slice(0, first), commands };
}
