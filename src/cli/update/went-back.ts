/**
 * The note that the last update of this machine did not come up: `<home>/went-back`, beside the versions, because the agent's
 * user may not read the other notes. `platen update` and `launch` write it before they start the previous version; the next update
 * removes it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { wentBack as schema, type WentBack } from '../../contract/report.ts';
import { programRoot } from '../linux-service/program.ts';

export const WENT_BACK = 'went-back';

/** @param running the version that asks: an update that was killed while it went back may have left it in place */
export function wentBack(running: string, root = programRoot()): WentBack | undefined {
  if (!existsSync(join(root, 'app/platen.js'))) return undefined;
  try {
    const [version, at] = readFileSync(join(dirname(root), WENT_BACK), 'utf8')
      .trim()
      .split(' ');
    const said = schema.safeParse({ version, at }).data;
    return said?.version === running ? undefined : said;
  } catch {
    return undefined;
  }
}
