/**
 * `npm run bench:cuts`: how many labels a power cut in the middle of a job leaves uncertain, at a printer that only says
 * what is pending: of labels that differ, and of copies of one. By a real agent at a virtual printer; takes five minutes.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualZplPrinter } from '../src/virtual/zpl/zpl-printer.ts';
import { agentWay } from './agent-way.ts';

const LABELS_A_SECOND = [1, 5, 50];
const CUTS = 3;
/** How long it has printed before the cut, s: the agent knows its pace by then. */
const BEFORE = 10;

/** @returns labels that may be out or not */
async function uncertainAfterCut(perSecond: number, copies: boolean, directory: string): Promise<number> {
  const printer = new VirtualZplPrinter({
    ...{ name: 'cut', outDir: directory, dpi: 203, width: 38, height: 19, countsLabels: false },
    faults: { slow: 1_000 / perSecond },
  });
  await printer.start();
  try {
    await using agent = await agentWay(printer.uri);
    const labels = perSecond * BEFORE * 2;
    const ended = copies ? agent.outcome(1, labels) : agent.outcome(labels, 1);
    for (let out = 0; out < perSecond * BEFORE; out++) await once(printer, 'label');
    await printer.powerOff();
    await printer.powerOn();
    const { status, uncertain } = await ended;
    if (status !== 'held' || uncertain === undefined) throw new Error(`the job is ${status}`);
    return uncertain.to - uncertain.from;
  } finally {
    await printer.stop();
  }
}

const directory = mkdtempSync(join(tmpdir(), 'platen-bench-cuts-'));
try {
  console.log('| labels a second | uncertain | of copies |\n|---|---|---|');
  for (const perSecond of LABELS_A_SECOND) {
    const [differ, copies]: [number[], number[]] = [[], []];
    while (differ.length < CUTS) differ.push(await uncertainAfterCut(perSecond, false, directory));
    while (copies.length < CUTS) copies.push(await uncertainAfterCut(perSecond, true, directory));
    console.log(`| ${perSecond} | ${differ.join(', ')} | ${copies.join(', ')} |`);
  }
} finally {
  rmSync(directory, { recursive: true });
}
