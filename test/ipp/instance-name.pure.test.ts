/** What a printer is called in the network, whatever people and agents call it. */
import dnsPacket from 'dns-packet';
import { expect, test } from 'vitest';
import { instanceName } from '../../src/ipp/announcement.ts';

test.each(['Dock 3.1', 'a\n', 'a\r\n.', '\0', '.', '標'.repeat(40), '😀'.repeat(40), '\ud800', 'a\u0085b'])(
  '%j is one label of DNS, and nothing else is said in its place',
  (name) => {
    const data = `${instanceName(name)}._ipp._tcp.local`;
    const packet = { type: 'response', answers: [{ type: 'PTR', name: '_ipp._tcp.local', data }] } as const;
    const [heard] =
      dnsPacket.decode(dnsPacket.encode({ ...packet, answers: [...packet.answers] })).answers ?? [];
    expect(heard).toMatchObject({ type: 'PTR', data });
    expect(instanceName(name)).not.toMatch(/[.\p{Cc}]/u);
  },
);
