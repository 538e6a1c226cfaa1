/** Words of the page of the agents. */
import type { Goodbye } from '../../../src/contract/gateway.ts';
import { many, verb } from './counted.ts';

export const agentWords = {
  agents: {
    title: 'Agents',
    hint: 'An agent runs beside printers and prints on them. At another site it needs a code once, and a connection to the internet.',
    empty: 'No agent yet',
    emptyHint:
      'Start one beside the printers. Where that is another site than the service’s, invite it first.',
    invite: 'Invite …',
    inviteTitle: 'Invite an agent',
    inviteSays: 'Makes a code with which an agent at another site joins, once, within a day.',
    inviteSubmit: 'Make the code',
    name: 'Name',
    namePlaceholder: 'Dock Hamburg',
    whose: 'Who prints on its printers',
    forAll: 'Every workspace',
    forOne: (tenant: string) => `Workspace ${tenant}`,
    brings: 'Its printers',
    bringsHint: 'A printer that another agent has reported waits in any case.',
    bringsAny: 'get jobs at once',
    bringsApprove: 'wait until somebody approves each',
    codeTitle: (name: string) => `The code for ${name}`,
    codeSays: (until: string) =>
      `It is shown this one time, and works once, until ${until}. Whoever uses it gets the jobs of the printers there.`,
    there: 'Type at the other site',
    code: 'Address and code',
    kept: 'I have kept it',
    onlyHere:
      'This address works only on the computer that the service runs on. For others, ask whoever runs it to set PLATEN_PUBLIC_URL first.',
    waitsForIt: 'Waiting for it',
    codeUntil: (time: string) => `code works until ${time}`,
    enrolledNotYet: 'It has enrolled, and is not connected yet: start it there.',
    looks: 'It has enrolled and is connected. It looks for printers.',
    foundSome: (n: number) => `It is connected: ${many(n, 'printer', 'printers')} found.`,
    foundWaiting: (n: number, waiting: number) =>
      `It is connected: ${many(n + waiting, 'printer', 'printers')} found, ${waiting.toLocaleString('en')} of them ${verb(waiting, 'waits', 'wait')} for approval.`,
    state: 'State',
    enrolled: 'Not here yet',
    revoked: 'Revoked',
    wentBack: (version: string) => `the update to ${version} went back`,
    seen: 'Last heard of',
    never: 'never',
    waiting: (n: number) => `${n.toLocaleString('en')} more ${verb(n, 'waits', 'wait')}`,
    refused: {
      revoked: 'It tried to connect, though it is revoked',
      unknown: 'The service did not know it',
      'proof-wrong': 'Somebody came in its name with another key',
      stale: 'It showed an old state: was its data directory copied, or restored from a back-up?',
      taken: 'Another process of it tried to connect: was its data directory copied?',
      'too-old': 'It speaks another version of the protocol: update it',
      'frame-wrong': 'It was not understood: update it',
      'too-many': 'The service has no room for it',
      restart: 'The service restarted',
    } satisfies Record<Goodbye, string>,
    waitTitle: 'Printers that wait for a decision',
    waitHint:
      'Another agent has reported the same printer, or the agent was invited so. Until it is approved, the agent gets none of its jobs.',
    refusedTitle: (n: number) => `Refused printers (${n.toLocaleString('en')})`,
    printer: 'Printer',
    agent: 'Agent',
    since: 'Since',
    decide: 'Decide',
    approve: 'Approve',
    refuse: 'Refuse',
    decided: {
      approved: (name: string) => `Approved: ${name} gets its jobs within seconds.`,
      refused: (name: string) => `Refused: ${name} gets no jobs by this agent.`,
    },
    approveAll: 'Approve its printers …',
    approveAllTitle: (name: string) => `Approve the printers of ${name}?`,
    approveSays: (name: string) => `${name} gets the jobs of these printers from then on.`,
    approvedSome: (n: number) => `${many(n, 'printer', 'printers')} approved.`,
    rename: 'Rename …',
    renameTitle: (name: string) => `Rename ${name}`,
    renameHint: 'What it is called here counts, whatever the agent itself says.',
    letIn: 'Let it in …',
    letInTitle: (name: string) => `Let ${name} in?`,
    letInDo: 'Let it in',
    letInSays:
      'Stop the copy first, if there is one: from then on only this one prints. It begins without what it had written down, so jobs that it may have begun are held for a person.',
    letInDone: (name: string) => `${name} is let in when it tries again, within a minute.`,
    restored: (n: number, at: string) =>
      `The service’s database was restored to an earlier time: ${many(n, 'agent', 'agents')} knew more than it does, the last one at ${at}. What came in between is missing here.`,
    restoredWait: (n: number) =>
      `${many(n, 'agent', 'agents')} had not been invited yet at that time, and ${verb(n, 'waits', 'wait')} to be let in.`,
    letInAll: 'Let them in …',
    letInAllTitle: (n: number) => `Let ${many(n, 'agent', 'agents')} in?`,
    letInAllSays:
      'They begin without what they had written down, so jobs that they may have begun are held for a person. An agent that was revoked since is among them again: revoke it first.',
    letInAllDone: (n: number) =>
      `${many(n, 'agent', 'agents')} ${verb(n, 'is', 'are')} let in with the next try, within a minute.`,
    withdraw: 'Withdraw the code …',
    withdrawTitle: (name: string) => `Withdraw the code of ${name}?`,
    withdrawDo: 'Withdraw',
    withdrawSays: 'Nobody can enrol with it any more. Another invitation gives another code.',
    needsAdmin: 'Inviting agents and deciding about them is for administrators: your role is another one.',
    move: 'To another workspace …',
    moves: 'is to change its workspace',
    moveTitle: (name: string) => `Whose is ${name} to be?`,
    moveDo: 'Move it',
    moveSays:
      'It takes no other job, finishes what it prints, for a minute at most, and joins again as the other workspace’s. While it is not connected it stays where it is.',
    moveLoses:
      'Jobs that wait for its printers stay in the workspace that it leaves, for another agent or to be moved by somebody. To the other one its printers are new: approvals, and printers that were added to it by their address, do not come along.',
    movesSays:
      'It is to change its workspace already, and has not yet. Choose the one that it is in to have it stay.',
    moveDone: (name: string) =>
      `${name} moves as soon as it has finished what it has in hand, and is connected.`,
    stays: 'Have it stay',
    staysDone: (name: string) => `${name} stays where it is.`,
    revoke: 'Revoke …',
    revokeTitle: (name: string) => `Revoke ${name}?`,
    revokeSays:
      'Its connection ends within seconds, and what it prints is held or goes to another agent that has the printer. With another code it may come back.',
    forget: 'Take off the list …',
    forgetTitle: (name: string) => `Take ${name} off the list?`,
    forgetSays:
      'With it go its printers that no other agent has, and those that were added for it by address. Their names, settings and jobs that wait stay for the agent that has them next. Should it come again, it is listed again; one that was revoked stays out.',
    unreached: (n: number) =>
      `${many(n, 'printer', 'printers')} of the agents’ configuration ${verb(n, 'was', 'were')} never reached`,
  },
};
