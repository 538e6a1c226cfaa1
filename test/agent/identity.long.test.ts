/**
 * One printer, one ID: a ZPL printer that is announced (Avahi), behind queues of a real CUPS, on USB and on the
 * network, is moved, renamed, unplugged and seen by two agents. What counts is what the service lists.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { standardTransports } from '../../drivers/transports/index.ts';
import { usbTransportAt } from '../../drivers/transports/stream/usb.ts';
import { Agent } from '../../src/agent/agent.ts';
import type { RawAgentConfig } from '../../src/agent/config.ts';
import { printerIdOf } from '../../src/agent/discovery/identity.ts';
import { usbDiscovery } from '../../src/agent/discovery/providers/usb.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { VirtualIppPrinter } from '../../src/virtual/ipp/ipp-printer.ts';
import { type FakeSysfs, fakeSysfs } from '../discovery/sysfs.ts';
import { Directories, jobFor, logger, smallPrinter, TestPrinter } from '../kit/agent/site.ts';
import { type Avahi, startAvahi } from '../kit/programs/avahi.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { ServiceHarness } from '../kit/service/harness.ts';

const SERIAL = 'D4J193601234';
const ID = printerIdOf({ evidence: 'serial', value: SERIAL });
const LOOPBACK = '127.0.0.1';
const ANNOUNCED = ['usb_MFG=Zebra', 'usb_MDL=ZTC ZD421-203dpi ZPL'];
const USB = { serial: SERIAL, deviceId: `MFG:Zebra;MDL:ZTC ZD421-203dpi ZPL identity;CMD:ZPL;SN:${SERIAL};` };

const run = promisify(execFile);
const directories = new Directories();
const running: (() => unknown)[] = [];
let service: ServiceHarness;
let avahi: Avahi;
let cups: Cupsd;

beforeAll(async () => {
  [service, avahi, cups] = await Promise.all([ServiceHarness.start(), startAvahi(), startCupsd()]);
});
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});
afterAll(async () => {
  await Promise.all([service?.stop(), avahi?.stop(), cups?.stop()]);
  directories.remove();
});

async function printerWith(serial: string): Promise<TestPrinter> {
  const printer = new TestPrinter(directories, { serial, name: 'identity' });
  await printer.start();
  running.push(() => printer.stop());
  return printer;
}

async function startAgent(
  name: string,
  config: Pick<RawAgentConfig, 'printers' | 'discovery'>,
  usb?: { sysfs: FakeSysfs; devices: string },
): Promise<Agent> {
  const transport = usb && usbTransportAt({ sysfs: usb.sysfs.root, devices: usb.devices });
  const agent = new Agent({
    config: { name, dataDir: directories.make(), timings: { scan: 1_000, near: 100 }, ...config },
    queue: service.queues,
    drivers: {
      ...standardDrivers,
      transports: standardTransports.with(...(transport ? [transport] : [])),
    },
    providers: usb ? [usbDiscovery({ sysfs: usb.sysfs.root })] : [],
    logger,
  });
  await agent.start();
  running.push(() => agent.stop({ graceMs: 0 }));
  return agent;
}

const listed = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    status: z.string(),
    agents: z.array(z.object({ name: z.string(), online: z.boolean() })),
  }),
);
type Listed = z.infer<typeof listed>;

const served = (printers: Listed) =>
  printers.filter(({ agents }) => agents.some(({ online }) => online)).map(({ id }) => id);

/** Other tests announce their printers on this machine too. */
const isOurs = ({ name }: { name: string }) => name.toLowerCase().includes('identity');
const ours = (agent: Agent) => agent.printers.filter(isOurs);
const isOff = (agent: Agent) => ours(agent).every(({ reasons }) => reasons.includes('offline'));

/** What the service lists, once it is so. */
async function until(is: (printers: Listed) => boolean): Promise<Listed> {
  for (;;) {
    const all = listed.parse((await service.admin('GET', '/printers')).body);
    const printers = all.filter(isOurs);
    if (is(printers)) return printers;
    await wait(50);
  }
}

const drivenBy = async (agent: Agent, uri: string) => {
  await until(() =>
    ours(agent).some((printer) => printer.uri === uri && !printer.reasons.includes('offline')),
  );
  expect(ours(agent).map(({ id }) => id)).toEqual([ID]);
  // One printer, whoever has it: what an agent does not know any more is nobody's.
  await until((printers) => served(printers).join() === ID);
};

/** A printer's USB plug: a pseudo-terminal that leads to its port. */
async function usbCable(devices: string, node: string, printer: TestPrinter): Promise<void> {
  const path = join(devices, node);
  const socat = spawn('socat', [`PTY,link=${path},raw,echo=0,b4000000`, `TCP:${LOOPBACK}:${printer.port}`]);
  while (!existsSync(path)) await wait(10);
  // Held open, so that it outlives each of those who open it.
  const held = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  running.push(async () => {
    closeSync(held);
    if (socat.exitCode === null && socat.kill()) await once(socat, 'exit');
  });
}

test('moved, renamed, plugged elsewhere, over several paths and to two agents: one printer, one ID', async () => {
  const printer = await printerWith(SERIAL);
  const withdraw = await avahi.publish('Identity, ward 3', '_pdl-datastream._tcp', printer.port, ANNOUNCED);
  const queue = (name: string) => `ipp://${LOOPBACK}:${cups.port}/printers/${name}`;
  const lpadmin = (...args: string[]) => run('lpadmin', ['-h', `${LOOPBACK}:${cups.port}`, ...args]);
  await cups.addQueue('identity-labels', printer.uri);
  const sysfs = await fakeSysfs();
  const devices = directories.make();
  const search = { dnsSd: true, interfaces: [LOOPBACK], cups: `ipp://${LOOPBACK}:${cups.port}/` };
  const first = await startAgent('first', { discovery: search }, { sysfs, devices });
  const second = await startAgent('second', {
    printers: [{ uri: queue('identity-labels'), mayMove: true }],
    discovery: search,
  });

  // Two agents, one of them over the queue that it was given.
  const both = await until(([one]) => one?.agents.filter(({ online }) => online).length === 2);
  expect(both).toMatchObject([{ id: ID, agents: [{ online: true }, { online: true }] }]);
  await drivenBy(first, printer.uri);
  await drivenBy(second, queue('identity-labels'));

  // The queue is renamed, then there is one of its old name again: another queue for CUPS, with another UUID.
  await lpadmin('-x', 'identity-labels');
  await cups.addQueue('identity-ward-3', printer.uri);
  await drivenBy(second, printer.uri);
  await cups.addQueue('identity-labels', printer.uri);
  await drivenBy(second, queue('identity-labels'));

  // Plugged in by USB as well: nothing else. Then it leaves the network: over USB.
  await usbCable(devices, 'lp0', printer);
  await sysfs.plug({ node: 'lp0', port: '1-1.2', ...USB });
  await withdraw();
  await lpadmin('-x', 'identity-labels');
  await lpadmin('-x', 'identity-ward-3');
  const plug = `usb://0a5f/0166/serial/${SERIAL}`;
  await drivenBy(first, plug);
  const [seen] = await until(([one]) => one?.agents.length === 2);
  expect(seen?.id).toBe(ID);

  // Unplugged, and plugged in elsewhere under another name.
  await sysfs.unplug({ node: 'lp0', port: '1-1.2' });
  await until(() => isOff(first));
  await usbCable(devices, 'lp1', printer);
  await sysfs.plug({ node: 'lp1', port: '2-3', ...USB });
  await drivenBy(first, plug);

  // Switched off, unplugged, and on again at another address.
  await sysfs.unplug({ node: 'lp1', port: '2-3' });
  await printer.powerOff();
  await until(() => isOff(first));
  const moved = await printerWith(SERIAL);
  expect(moved.port).not.toBe(printer.port);
  const withdrawMoved = await avahi.publish(
    'Identity, goods in',
    '_pdl-datastream._tcp',
    moved.port,
    ANNOUNCED,
  );
  running.push(withdrawMoved);
  await drivenBy(first, moved.uri);
  await drivenBy(second, moved.uri);
  const printers = await until(([one]) => one?.status === 'idle');
  expect(printers.map(({ id }) => id)).toEqual([ID]);

  // Whoever prints, it prints.
  const job = jobFor(ID, 2);
  await service.queues.enqueue(job);
  await moved.printed(2);
  expect(moved.labels).toEqual(['0', '1']);
});

test('an IPP printer that is announced to two agents is one, also when it comes back elsewhere by another name', async () => {
  const announced = async (name: string) => {
    const options = { ...smallPrinter(directories), serial: 'IDENTITY-42', announce: [LOOPBACK] };
    const printer = new VirtualIppPrinter({ ...options, name });
    await printer.start();
    running.push(() => printer.stop());
    return printer;
  };
  const id = printerIdOf({ evidence: 'serial', value: 'IDENTITY-42' });
  const here = (agent: Agent, uri: string) =>
    agent.printers.some((one) => one.uri === uri && one.id === id && !one.reasons.includes('offline'));
  const before = await announced('Identity, dispensary');
  const discovery = { dnsSd: true, interfaces: [LOOPBACK] };
  const agents = [await startAgent('third', { discovery }), await startAgent('fourth', { discovery })];
  await until(() => agents.every((agent) => here(agent, before.uri)));
  await before.stop();
  const after = await announced('Identity, pharmacy');
  await until(() => agents.every((agent) => here(agent, after.uri)));
  for (const agent of agents) expect(agent.printers.filter((one) => one.id === id)).toHaveLength(1);
});
