/** The manual page `platen(1)`: what its help says, and where its files are. */
import { DESCRIPTIONS } from '../../src/cli/command-descriptions.ts';
import { CONFIGURATION } from '../../src/cli/linux-service/unit.ts';
import { STATE } from '../../src/contract/own-user.ts';

/** @returns the page in man(7)'s language */
export function manual(version: string, time: Date): string {
  const commands = Object.entries(DESCRIPTIONS).map(
    ([name, description]) => `.TP\n.B ${roff(name)}\n${roff(description)}`,
  );
  return `.TH PLATEN 1 "${time.toISOString().slice(0, 10)}" "Platen ${version}" "User Commands"
.SH NAME
platen \\- label print service, and the print agent next to the printers
.SH SYNOPSIS
.B platen
.I command
.RI [ argument " ...] [" option " ...]"
.SH DESCRIPTION
The one program of Platen: what runs as a service, and what asks it.
.B \\-\\-help
works at every level; commands that print a result take
.BR \\-\\-json .
.SH COMMANDS
${commands.join('\n')}
.SH FILES
.TP
.I ${CONFIGURATION}/platen.json, ${CONFIGURATION}/agent.json
The configuration of service and agent, or of an agent alone.
.B platen config check
says what is wrong with it.
.TP
.I ${STATE}
What the service keeps: jobs, journal, keys.
.SH EXIT STATUS
0: done; 1: refused or failed; 2: wrong usage.
.SH ENVIRONMENT
.TP
.B PLATEN_URL, PLATEN_ADMIN_TOKEN
A service elsewhere, instead of the one on this machine.
.TP
.B PLATEN_DATA
The data directory, where
.B \\-\\-data
names none.
.SH EXAMPLE
Why nothing prints:
.PP
.B sudo platen doctor
`;
}

/** A hyphen of a command is no hyphen of a word, and a line that begins with a point is no request. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');
}
