/** Every English word of the console. German stands beside it in `de.ts`, with the same keys. */
import type { ProviderRefusal } from '../../src/contract/people.ts';
import { REASONS } from '../../src/words/reason-table.ts';
import { accessWords } from './en/access.ts';
import { addedWords } from './en/added.ts';
import { agentWords } from './en/agents.ts';
import { alertWords } from './en/alerts.ts';
import { jobs, labels, many, verb } from './en/counted.ts';
import { designerWords } from './en/designer.ts';
import { gs1Words } from './en/gs1.ts';
import { jobWords } from './en/jobs.ts';
import { printingWords } from './en/printing.ts';
import { refusals } from './en/refusals.ts';

/** Has no words for the service's codes, because the service itself says them in English. */
const ITS_OWN_WORDS: Readonly<Record<string, string>> = {};

/** The reasons in which a tenant is called a workspace, as people know it. */
const OF_WORKSPACES = Object.fromEntries(
  Object.entries(REASONS).map(
    ([code, words]) => [code, words.replaceAll(/\btenant\b/g, 'workspace')] as const,
  ),
);

const REASON_WORDS: Readonly<Record<string, string>> = {
  ...OF_WORKSPACES,
  'printer-wanted': 'expected a printer',
  'printer-names': 'several printers have this name',
  'font-absent':
    'the font {font}, which has the character {character}, is not installed: ask your administrator',
  // Leaves out the number of the standard, which only programmers know.
  'not-a-date': 'the value is not a date such as 2026-11-21 or 2026-11-21T07:45:00Z',
};

export const en = {
  locale: 'en',
  general: {
    justNow: 'just now',
    product: 'Platen',
    skip: 'Skip to the content',
    menu: 'Menu',
    close: 'Close',
    cancel: 'Not now',
    save: 'Save',
    retry: 'Try again',
    loading: 'Loading …',
    none: 'none',
    more: 'More',
    older: 'Show older ones',
    copy: 'Copy',
    copied: 'Copied',
    notCopied: 'The browser did not copy it. Select the text and copy it yourself.',
    light: 'Light',
    dark: 'Dark',
    asSystem: 'As the system',
    colours: 'Colours',
    language: 'Language',
    why: 'Why (optional, is kept with it)',
    from: (name: string) => `from ${name}`,
    quoted: (text: string) => `“${text}”`,
    labels,
    jobs,
    mm: (width: number, height: number) => `${width} × ${height} mm`,
  },
  problem: {
    title: 'That did not work',
    refusals,
    reasons: REASON_WORDS,
    atRecord: (record: number) => `Record ${record}`,
    withSamples: 'With the samples of the fields',
    atResolutions: (dpis: string) => `at ${dpis} dpi`,
    places: { elements: 'Element', fields: 'Field', images: 'Picture', fonts: 'Font', source: 'ZPL' },
    templateProblems: ITS_OWN_WORDS,
    jobFaults: ITS_OWN_WORDS,
    noAnswer: 'The service does not answer. Is it running, and is the network there?',
    otherVersion: 'The service has another version than this page. Load the page again.',
    reload: 'Load the page again',
    silent: (time: string) =>
      `No answer from the service since ${time}. What you see is what was known then.`,
    noPage: 'No such page',
    notFound: 'There is nothing here',
    toStart: 'To the start page',
    notFoundHint: 'What this address named does not exist, or belongs to somebody else.',
    forbidden: 'Your role may not do this. Ask an admin of your workspace.',
    broken: 'This page has failed. What is printed is not touched by it.',
  },
  nav: {
    label: 'Pages',
    start: 'Start',
    print: 'Print',
    jobs: 'Jobs',
    held: 'To decide',
    printers: 'Printers',
    agents: 'Agents',
    templates: 'Templates',
    integrations: 'Integrations',
    webhooks: 'Webhooks',
    alerts: 'Alerts',
    people: 'People',
    audit: 'Audit',
    account: 'Your account',
    shortcuts: 'Keyboard',
    groups: { setUp: 'Set-up', administration: 'Administration' },
    waits: {
      held: 'Jobs to decide about',
      printers: 'Printers that need somebody',
      agents: 'Printers that wait for a decision',
    },
  },
  shortcuts: {
    title: 'Keyboard',
    search: 'Search on this page',
    rows: 'Next and previous row; Enter opens it',
    this: 'This list',
    goTo: (page: string) => `Go to ${page}`,
    thenKey: 'then',
    designer: 'In the designer, with the focus on the label',
    designerKeys: [
      ['Tab', 'the next element'],
      ['Arrows', 'move by a dot; with Shift by a millimetre, with Alt change the size'],
      ['Enter', 'type the text or the value where it stands'],
      ['R', 'turn by 90°'],
      ['[ ]', 'further back, further to the front'],
      ['+ − 0', 'larger, smaller, the whole label'],
      ['Ctrl A', 'choose all'],
      ['Ctrl D', 'duplicate'],
      ['Ctrl G', 'group; with Shift ungroup'],
      ['Delete', 'remove'],
      ['Ctrl Z', 'undo; with Shift redo'],
      ['Ctrl S', 'save'],
    ] as [keys: string, does: string][],
  },
  signIn: {
    title: 'Sign in',
    workspace: 'Workspace',
    login: 'Name or e-mail address',
    password: 'Password',
    submit: 'Sign in',
    byLink:
      'No password yet? Ask your administrator for a link. Whoever starts the service gets the first one there.',
    linkUsed: 'This link does not work any more. Each one works once, and only for a while.',
    wrong: 'No such name, or not this password.',
    tooOften: 'Too many attempts. Wait a few minutes.',
    atProvider: (name: string) => `Sign in with ${name}`,
    byPasskey: 'Sign in with a passkey',
    or: 'or with a password',
    passkeyNone: 'No passkey was used. Try again, or sign in another way.',
    passkeyRefused: 'This passkey signs nobody in here any more.',
    refused: {
      canceled: 'The sign-in was canceled.',
      expired: 'This sign-in took too long, or began in another tab. Please begin again.',
      'not-invited': 'You are known, but not invited to this workspace. Ask its administrator.',
      'not-verified': 'Your e-mail address is not verified there. Ask who keeps your account.',
      'provider-away': 'Single sign-on does not answer. Try again in a moment, or use your password.',
      'provider-refused':
        'Single sign-on has refused. Please begin again; if that does not help, ask who set it up.',
      'too-often': 'Too many attempts. Wait a few minutes.',
    } satisfies Record<ProviderRefusal, string>,
    working: 'Signing you in …',
  },
  invitation: {
    title: (workspace: string) => `Welcome to ${workspace}`,
    as: (login: string, role: string) => `You will sign in as ${login}, in the role ${role}.`,
    name: 'Your name',
    password: 'Choose a password',
    hint: 'At least 10 characters.',
    submit: 'Accept and sign in',
  },
  account: {
    title: 'Your account',
    role: 'Role',
    workspace: 'Workspace',
    setPassword: 'Set a password',
    changePassword: 'Change the password',
    current: 'Current password',
    next: 'New password',
    hint: 'At least 10 characters.',
    wrong: 'The current password is another one.',
    changed: 'The password is set.',
    signOut: 'Sign out',
    everywhere: 'Sign out everywhere',
    stillIn: 'You may still be signed in. Try again.',
    everywhereHint:
      'Ends your sessions in all browsers, this one too, and links of yours that nobody has opened yet.',
  },
  start: {
    title: 'Start',
    hello: 'Three steps to the first label',
    printer: 'A printer',
    printerHint:
      'An agent beside the printers finds them. Nothing is found yet: ask your administrator to start one.',
    printerDone: (n: number) => `${many(n, 'printer is', 'printers are')} there.`,
    template: 'A template',
    templateHint: 'What is on the label, and which values change. Begin with a sample, or import a file.',
    templateDone: (n: number) => `${many(n, 'template is', 'templates are')} there.`,
    label: 'The first label',
    labelHint: 'Fill in the values, see the label, print it.',
    labelDone: 'Printed.',
    toPrinters: 'See printers',
    toTemplates: 'See templates',
    toPrint: 'Print a label',
    troubled: 'Printers that need somebody',
    heldUp: (n: number) =>
      n === 0 ? 'no job waits for it' : `${jobs(n)} ${verb(n, 'waits', 'wait')} for it`,
    today: 'Jobs of today',
    printed: 'Printed',
    decide: (n: number, orMore: boolean) =>
      `${orMore ? 'At least ' : ''}${many(n, 'job waits', 'jobs wait')} for a decision`,
    latest: 'Latest jobs',
  },
  ...jobWords,
  ...printingWords,
  ...accessWords,
  ...agentWords,
  ...alertWords,
  added: addedWords,
  designer: designerWords,
  gs1: gs1Words,
};

export type Texts = typeof en;
