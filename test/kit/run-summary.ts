/**
 * Ends a run with what somebody wants to know of it: its slowest files, what was left out for want of a package, the
 * quarantine. The file that `PLATEN_FAILED_TESTS` names gets those that failed, for `.ci/run`.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative, sep } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node';
import { QUARANTINE } from '../quarantine.ts';
import { LONGEST } from './longest-first.ts';
import { commandFor } from './servers/debian-packages.ts';
import { leftOut } from './servers/what-files-need.ts';

const SHOWN = 20;
/** A file that takes this long, s, is alone at the end of a run that has not begun with it. */
const LONG_S = 60;

export class RunSummary implements Reporter {
  #projects: string[] = [];
  #before = busy();

  onInit(vitest: Vitest): void {
    this.#projects = vitest.projects.map(({ name }) => name);
  }

  /** At once: whoever ends a run that goes on for half an hour knows what failed so far. */
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state !== 'failed') return;
    const said = (errors ?? [])
      .map(({ message, diff = '', stack = '' }) => `${message}\n${diff}\n${stack}`)
      .join('\n');
    process.stdout.write(`\nFailed: ${nameOf(test.module)}: ${test.fullName}\n${said}\n\n`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const files = modules.map((module) => ({
      name: nameOf(module),
      listed: LONGEST.includes(module.moduleId),
      seconds: module.diagnostic().duration / 1_000,
      cpu: module.meta().cpu,
    }));
    const folders = new Map<string, number>();
    for (const { name, seconds } of files) {
      const folder = name.includes(sep) ? (name.split(sep)[0] ?? '') : '.';
      folders.set(folder, (folders.get(folder) ?? 0) + seconds);
    }
    const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, SHOWN);
    const byTime = [...folders].toSorted(([, one], [, other]) => other - one);
    const late = files.filter(({ listed, seconds }) => !listed && seconds > LONG_S).map(({ name }) => name);
    const { work, all } = busy();
    const [worked, were] = [work - this.#before.work, all - this.#before.all];
    const lines = [
      `\nThe machine worked ${worked.toFixed(0)} s of ${cpus().length} times ${(were / cpus().length).toFixed(0)} s.`,
      `The slowest ${slowest.length} of ${files.length} files, s, and what they worked of it:`,
      ...slowest.map(
        ({ name, seconds, cpu = 0 }) =>
          `${seconds.toFixed(1).padStart(7)} ${cpu.toFixed(1).padStart(7)}  ${name}`,
      ),
      ...(late.length > 0 ? [`To be listed in test/kit/longest-first.ts: ${late.join(', ')}`] : []),
      `Folders, s: ${byTime.map(([folder, seconds]) => `${folder} ${seconds.toFixed(0)}`).join(', ')}`,
      `In quarantine: ${QUARANTINE.length === 0 ? 'no test' : ''}`,
      ...QUARANTINE.map(({ file, test, since, known }) => `  ${file}: ${test} (since ${since}: ${known})`),
      ...this.#projects.flatMap((project) => {
        const { packages, files: without } = leftOut(project);
        if (Object.keys(packages).length === 0) return [];
        return [
          `Left out of project ${project}, since ${Object.keys(packages).join(', ')} cannot be installed by this user` +
            ` (${commandFor(packages)}): what these files test, and on Redis nothing:`,
          ...without.map((file) => `  ${file}`),
        ];
      }),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    const list = process.env['PLATEN_FAILED_TESTS'];
    // Nobody knows which file an error outside of all tests belongs to.
    if (list === undefined || unhandled.length > 0) return;
    const failed = modules.filter((module) => !module.ok());
    writeFileSync(list, failed.map(({ moduleId }) => `${relative('', moduleId)}\n`).join(''));
  }
}

/** Seconds of all processors since the machine started, whoever had them. */
function busy(): { work: number; all: number } {
  const times = cpus().map(({ times: { user, nice, sys, irq, idle } }) => ({
    work: (user + nice + sys + irq) / 1_000,
    idle: idle / 1_000,
  }));
  const work = times.reduce((sum, one) => sum + one.work, 0);
  return { work, all: times.reduce((sum, one) => sum + one.idle, work) };
}

/** From `test/`. */
function nameOf({ moduleId }: TestModule): string {
  return relative(join(process.cwd(), 'test'), moduleId);
}
