/** What the network is told of printers that are offered: read by Avahi, by CUPS' ippfind, and by Platen's own agents. */
import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { groupOf, stringsOf } from '../../drivers/ipp/message.ts';
import { dnsSdDiscovery } from '../../src/agent/discovery/providers/dns-sd/dns-sd.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { type Avahi, startAvahi } from '../kit/programs/avahi.ts';
import { PRINTER, ServiceHarness } from '../kit/service/harness.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';

let avahi: Avahi;
beforeAll(async () => {
  avahi = await startAvahi();
});
afterAll(() => avahi?.stop());

async function started(config: object): Promise<ServiceHarness> {
  const service = await ServiceHarness.start({
    redis: false,
    config: { host: '127.0.0.1', ipp: true, ippAnnounce: true, ...config },
  });
  onTestFinished(() => service.stop());
  await service.agent([{ name: 'Dock 3.1', model: 'ZTC ZD421-203dpi ZPL' }]);
  return service;
}
const act = async (service: ServiceHarness, action: string) =>
  printerDetails.parse((await service.admin('POST', `/printers/${PRINTER}/${action}`, {})).body).ipp;

/** Lines are `=;lo;IPv4;name;type;domain;host;address;port;txt`, and `-;…` for what goes. */
function browsing(type: string) {
  const browser = spawn('avahi-browse', ['--resolve', '--parsable', type], {
    env: avahi.environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void browser.kill());
  const lines = createInterface({ input: browser.stdout })[Symbol.asyncIterator]();
  return async (sign: string): Promise<string[]> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('avahi-browse ended');
      const fields = String(value).split(';');
      if (fields[0] === sign && fields[3]?.startsWith('Dock')) return fields;
    }
  };
}

test('Avahi and CUPS find a printer that is offered, with what it says at its address, until it is offered no more', async () => {
  const service = await started({});
  const line = browsing('_ipp._tcp');
  await service.admin('PUT', `/printers/${PRINTER}/about`, { place: 'Hall 2', group: '', note: '' });
  const uri = String(await act(service, 'offer'));
  const [, port = '', uuid = ''] = /:(\d+)\/ipp\/print\/(.*)$/.exec(uri) ?? [];
  const found = await line('=');
  expect(found.slice(7, 9)).toEqual(['127.0.0.1', port]);
  const txt = Object.fromEntries(
    [...(found[9] ?? '').matchAll(/"([^=]+)=([^"]*)"/g)].map(([, key = '', value]) => [key, value]),
  );
  expect(txt).toMatchObject({
    ...{ txtvers: '1', rp: `ipp/print/${uuid}`, UUID: uuid, note: 'Hall 2', ty: 'ZTC ZD421-203dpi ZPL' },
    ...{ Color: 'F', Duplex: 'F', kind: 'label', air: 'username,password', adminurl: `${service.url}/` },
  });
  const asked = await fetch(uri.replace('ipp:', 'http:'), {
    method: 'POST',
    body: new Uint8Array(encodeIpp(ippRequest('Get-Printer-Attributes', uri))),
    headers: { 'content-type': 'application/ipp' },
  });
  const printer = groupOf(decodeIpp(Buffer.from(await asked.arrayBuffer())), 'printer')?.attributes ?? [];
  expect(stringsOf(printer, 'printer-uuid')).toEqual([`urn:uuid:${uuid}`]);
  expect(stringsOf(printer, 'document-format-supported')).toEqual(txt['pdl']?.split(','));
  expect(stringsOf(printer, 'printer-location')).toEqual([txt['note']]);
  const [name = ''] = stringsOf(printer, 'printer-dns-sd-name');
  expect(name).toMatch(/^Dock 3-1 @ /);

  const { stdout } = await promisify(execFile)('ippfind', ['-T', '10', '-N', name, '--print'], {
    ...{ env: avahi.environment, timeout: 60_000 },
  });
  expect(stdout.trim()).toMatch(new RegExp(`^ipp://platen-.*\\.local\\.?:${port}/ipp/print/${uuid}$`));

  // It would be a printer that prints on itself.
  const agent = dnsSdDiscovery({ interfaces: ['127.0.0.1'], timeout: 1_000 });
  onTestFinished(() => agent.stop());
  const seen = await agent.find(new AbortController().signal);
  expect(seen.filter((one) => one.uri.includes(uuid))).toEqual([]);

  await act(service, 'withdraw');
  await line('-');
  await act(service, 'offer');
  await line('=');
  await act(service, 'hide');
  await line('-');
  await act(service, 'show');
  await line('=');
  await service.stop();
  await line('-');
});

test('printers of one long name, in letters of many bytes, have each a name of its own', async () => {
  const service = await started({});
  const name = `Dock A${'標'.repeat(40)}`;
  const other = PRINTER.replace(/.$/, '0');
  await service.agent([{ name }, { name: name.replace('A', 'a'), id: other }]);
  const line = browsing('_ipp._tcp');
  const offered = await Promise.all(
    [PRINTER, other].map(async (id) => {
      const { body } = await service.admin('POST', `/printers/${id}/offer`, {});
      return String(printerDetails.parse(body).ipp).split('/').at(-1);
    }),
  );
  const found = new Map<string | undefined, string | undefined>();
  while (found.size < 2) {
    const [, , , instance, , , , , , txt] = await line('=');
    found.set(/"UUID=([^"]*)"/.exec(txt ?? '')?.[1], instance?.toLowerCase());
  }
  expect([...found.keys()].sort()).toEqual(offered.sort());
  expect(new Set(found.values()).size).toBe(2);
});

test('where callers come by https it is announced there', async () => {
  const service = await started({ publicUrl: 'https://127.0.0.1:8443' });
  const line = browsing('_ipps._tcp');
  await act(service, 'offer');
  const found = await line('=');
  expect(found.slice(7, 9)).toEqual(['127.0.0.1', '8443']);
  expect(found[9]).toContain('"TLS=1.2"');
});

test('nothing is announced of printers that are not offered, nor by a service that is not told to', async () => {
  const quiet = await started({ ippAnnounce: false });
  await act(quiet, 'offer');
  const service = await started({});
  const line = browsing('_ipp._tcp');
  const uri = String(await act(service, 'offer'));
  const found = await line('=');
  expect(found[8]).toBe(new URL(uri.replace('ipp:', 'http:')).port);
  const { stdout } = await promisify(execFile)('avahi-browse', ['--parsable', '--terminate', '_ipp._tcp'], {
    env: avahi.environment,
  });
  expect(stdout.split('\n').filter((one) => one.includes('Dock'))).toHaveLength(1);
});
