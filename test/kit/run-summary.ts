/** Ends a run with what somebody wants to know of it: its slowest files, what passed only at a second try, what was left out for want of a package, the quarantine. */
import { join, relative, sep } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { QUARANTINE } from '../quarantine.ts';
import { commandFor } from './servers/debian-packages.ts';
import { leftOut } from './servers/what-files-need.ts';

const SHOWN = 20;

export class RunSummary implements Reporter {
  #projects: string[] = [];

  onInit(vitest: Vitest): void {
    this.#projects = vitest.projects.map(({ name }) => name);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      name: relative(join(process.cwd(), 'test'), module.moduleId),
      seconds: module.diagnostic().duration / 1_000,
    }));
    const folders = new Map<string, number>();
    for (const { name, seconds } of files) {
      const folder = name.includes(sep) ? (name.split(sep)[0] ?? '') : '.';
      folders.set(folder, (folders.get(folder) ?? 0) + seconds);
    }
    const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, SHOWN);
    const byTime = [...folders].toSorted(([, one], [, other]) => other - one);
    const lines = [
      `\nThe slowest ${slowest.length} of ${files.length} files, s (seven run at a time):`,
      ...slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)}  ${name}`),
      `Folders, s: ${byTime.map(([folder, seconds]) => `${folder} ${seconds.toFixed(0)}`).join(', ')}`,
      ...secondTry(modules),
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
  }
}

/** The tests that failed and then passed, with what they said at first: each is a bug to be found, or goes into the quarantine. */
function secondTry(modules: readonly TestModule[]): string[] {
  const flaky = modules.flatMap((module) =>
    [...module.children.allTests()].filter((test) => test.diagnostic()?.flaky === true),
  );
  return [
    `Passed only at a second try: ${flaky.length === 0 ? 'no test' : ''}`,
    ...flaky.map((test) => {
      const said = test.result().errors?.[0]?.message.split('\n')[0] ?? '';
      return `  ${relative(join(process.cwd(), 'test'), test.module.moduleId)}: ${test.name} (${said})`;
    }),
  ];
}
