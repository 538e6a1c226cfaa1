/** The program that is to run as a service: a checkout, or a version in a directory of versions. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { CommandFailure, EXIT } from '../failure.ts';

const metadata = z.object({ name: z.string(), version: z.string() });

export interface Program {
  /** The directory of the checkout or version, with its `package.json`. */
  root: string;
  version: string;
  /** Where versions lie side by side; null: it is a checkout. */
  home: string | null;
  /** The program is an agent, without a service in it. */
  isAgentAlone: boolean;
  /** The path of the command, which stays valid after an update. */
  command: string;
}

/** The directory of the checkout or version that this is. */
export function programRoot(): string {
  let root = import.meta.dirname;
  while (!existsSync(join(root, 'package.json')) && root !== dirname(root)) root = dirname(root);
  return root;
}

/** @throws CommandFailure where apt has installed it, and the service with it */
export function thisProgram(): Program {
  const root = programRoot();
  const { name, version } = metadata.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const isAgentAlone = name === 'platen-agent';
  if (!existsSync(join(root, 'app/platen.js'))) {
    return { root, version, home: null, isAgentAlone, command: join(root, 'service/platen') };
  }
  const home = dirname(root);
  if (home === '/usr/lib/platen') {
    throw new CommandFailure(
      `apt has installed it, and the service with it: systemctl status ${name}; apt remove ${name}`,
      EXIT.usage,
    );
  }
  if (basename(root) !== version) {
    throw new CommandFailure(
      `${root} was renamed: unpack the archive again, so that it is ${home}/${version}`,
      EXIT.usage,
    );
  }
  return { root, version, home, isAgentAlone, command: join(home, 'current/bin/platen') };
}
