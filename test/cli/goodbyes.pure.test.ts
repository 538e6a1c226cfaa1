/** Why an agent at another site is not let in: in words wherever a person may look. */
import { describe, expect, test } from 'vitest';
import { shown } from '../../src/cli/agents.ts';
import { remedyOf } from '../../src/cli/doctor/enrolled.ts';
import type { AgentView } from '../../src/contract/agent-view.ts';
import { GOODBYES, goodbyeWords } from '../../src/contract/gateway.ts';
import { agentWords as german } from '../../web/texts/de/agents.ts';
import { agentWords as english } from '../../web/texts/en/agents.ts';

const AT = '2026-11-26T20:00:00.000Z';

function agent(code: string, connectedSince: string | null): AgentView {
  return {
    ...{ id: 'agent-at-a-branch', tenant: null, name: 'Dock', version: '1.2.3', online: false, seenAt: AT },
    ...{ printers: 0, unreached: [], wentBackFrom: null },
    enrolled: {
      ...{ at: AT, invitation: null, revokedAt: null, moves: false, connectedSince },
      ...{ refused: { code, at: AT }, ahead: null, notServed: [] },
    },
  };
}

describe.each(Object.entries(GOODBYES))('%s', (code, words) => {
  test('is said by "platen agents", also of one that came beside the agent itself', () => {
    expect(shown(agent(code, null), [])).toMatch(/^status +refused at /m);
    expect(shown(agent(code, null), [])).toContain(`: ${words}`);
    expect(shown(agent(code, AT), [])).toContain('online; another one refused at ');
    expect(shown(agent(code, AT), [])).toContain(words);
  });

  test('has what helps in "platen doctor" at the agent', () => {
    const helps = remedyOf(`not connected to the service: ${words}`);
    expect(helps).not.toBe(remedyOf('not connected to the service: the connection was closed'));
    expect(helps).toMatch(/\.$/);
  });

  test('has words in the console, in both languages', () => {
    for (const { refused } of [english.agents, german.agents]) {
      const said = Object.entries(refused).find(([known]) => known === code)?.[1];
      expect(said).toMatch(/\w.*\w/);
    }
    expect(Object.keys(german.agents.refused)).toEqual(Object.keys(english.agents.refused));
  });
});

test('one that only a newer service knows is said as it came', () => {
  expect(goodbyeWords('asleep')).toBe('the service says "asleep"');
  expect(shown(agent('asleep', null), [])).toContain(': asleep');
});
