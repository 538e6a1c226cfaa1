/** Starts long-running programs as processes, for tests of how each comes up and how it ends. */
import { PLATEN } from '../programs/built.ts';
import { type Program, Programs } from '../programs/programs.ts';

export interface Running extends Program {
  /** From its ready line, as long as that is among the last that it said. @throws Error otherwise */
  readonly url: string;
}

export class RunningPrograms {
  readonly #programs = new Programs();

  /** Starts `platen <args>`, with no database and queue of the machine's, but those that `env` names. */
  start(args: readonly string[], env: Record<string, string | undefined> = {}): Running {
    const { DATABASE_URL: _database, REDIS_URL: _redis, ...own } = process.env;
    const program = this.#programs.start(PLATEN, args, { env: { ...own, ...env } });
    return {
      ...program,
      get url() {
        const [, url] = /^platen is ready at (\S+)$/m.exec(program.said()) ?? [];
        if (url === undefined) throw new Error(`not ready: ${program.said()}`);
        return url;
      },
    };
  }

  /** Runs a line of the shell, which finds the command as `$PLATEN`. */
  shell(line: string, env: Record<string, string>): Program {
    return this.#programs.start('sh', ['-c', line], { env: { ...process.env, ...env, PLATEN } });
  }

  async end(): Promise<void> {
    await this.#programs.end();
  }
}
