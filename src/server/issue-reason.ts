/** Turns what a schema finds wrong in a body into a reason, which a page can say in its own language. */
import type { z } from 'zod';
import { because, type Reason, type ReasonCode, readableReason, saidBySchema } from '../contract/reason.ts';

/** How zod's own messages begin. Any other message is one of ours, which says more than zod's issue code. */
const ITS_OWN = /^(?:Invalid |Too (?:big|small): expected|Unrecognized )/;

const EXPECTED = new Map<string, ExpectedCode>([
  ['number', 'expected-number'],
  ['int', 'expected-whole-number'],
  ['string', 'expected-text'],
  ['boolean', 'expected-boolean'],
  ['array', 'expected-list'],
  ['object', 'expected-object'],
  ['record', 'expected-object'],
]);

type ExpectedCode = Exclude<Extract<ReasonCode, `expected-${string}`>, 'expected-one-of'>;

/** @param found the value in the body; undefined where there is none */
export function reasonOfIssue(issue: z.core.$ZodIssue, found: unknown): Reason {
  return (
    known(issue, found) ??
    (ITS_OWN.test(issue.message)
      ? because('value-unexpected', {})
      : because('other', { said: issue.message.slice(0, 1_000) }))
  );
}

function known(issue: z.core.$ZodIssue, found: unknown): Reason | undefined {
  if (issue.code === 'custom' && issue.params?.['reason'] !== undefined)
    return readableReason.parse(issue.params['reason']);
  if (!ITS_OWN.test(issue.message)) return saidBySchema(issue.message);
  if (found === undefined) return because('member-missing', {});
  switch (issue.code) {
    case 'invalid_type': {
      const code = EXPECTED.get(issue.expected);
      return code === undefined ? undefined : because(code, {});
    }
    case 'invalid_value':
      return because('expected-one-of', { choices: issue.values.map(String).join(', ') });
    case 'too_big':
    case 'too_small':
      return bound(issue);
    default:
      return undefined;
  }
}

function bound(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall): Reason {
  if (issue.code === 'too_big') {
    const most = String(issue.maximum);
    if (issue.origin === 'string') return because('most-characters', { most });
    if (issue.origin === 'array') return because('most-items', { most });
    return issue.inclusive === false ? because('below', { most }) : because('at-most', { most });
  }
  const least = String(issue.minimum);
  if (issue.origin === 'string') return because('least-characters', { least });
  if (issue.origin === 'array') return because('least-items', { least });
  return issue.inclusive === false ? because('above', { least }) : because('at-least', { least });
}
