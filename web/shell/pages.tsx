/** The pages of the console: the address, permission and shortcut of each. */
import type { ComponentChildren } from 'preact';
import type { Need } from '../../src/contract/people.ts';
import type { IconName } from '../controls/icon.tsx';
import { later } from '../controls/later.tsx';
import { NotFound, Page } from '../controls/page.tsx';
import { HeldJobs } from '../jobs/held-jobs.tsx';
import { JobPage } from '../jobs/job-page.tsx';
import { Jobs } from '../jobs/jobs.tsx';
import { Print } from '../print/print.tsx';
import { PrinterPage } from '../printers/printer-page.tsx';
import { Printers, WALL } from '../printers/printers.tsx';
import { TemplatePage } from '../templates/template-page.tsx';
import { Templates } from '../templates/templates.tsx';
import { t } from '../texts/texts.ts';
import { Account } from './account.tsx';
import { Start } from './start.tsx';

export type PageName =
  | 'start'
  | 'print'
  | 'jobs'
  | 'held'
  | 'printers'
  | 'agents'
  | 'templates'
  | 'integrations'
  | 'webhooks'
  | 'alerts'
  | 'people'
  | 'audit'
  | 'account';

/** The groups of pages, in the order of the navigation. */
export const GROUPS = ['work', 'setUp', 'administration'] as const;

type PageEntry = {
  group: (typeof GROUPS)[number];
  icon: IconName;
  needs: Need;
  /** The shortcut is `g` and then this key. */
  key: string;
  show: (id: string | undefined, what: string | undefined) => ComponentChildren;
};

// The pages that operators need are loaded with the console; these are loaded when somebody goes there.
const Agents = later(async () => (await import('./seldom.ts')).Agents);
const AlertPage = later(async () => (await import('./seldom.ts')).AlertPage);
const Alerts = later(async () => (await import('./seldom.ts')).Alerts);
const Audit = later(async () => (await import('./seldom.ts')).Audit);
const Integrations = later(async () => (await import('./seldom.ts')).Integrations);
const People = later(async () => (await import('./seldom.ts')).People);
const WebhookPage = later(async () => (await import('./seldom.ts')).WebhookPage);
const Webhooks = later(async () => (await import('./seldom.ts')).Webhooks);
const Designer = later(async () => (await import('../designer/designer.tsx')).Designer);
const Wall = later(async () => (await import('../printers/wall.tsx')).Wall);
const NewTemplate = later(async () => (await import('../designer/new-template.tsx')).NewTemplate);

/** All pages, in the order of the navigation. */
export const PAGES: Readonly<Record<PageName, PageEntry>> = {
  start: { group: 'work', icon: 'start', needs: 'jobs:read', key: 's', show: () => <Start /> },
  print: { group: 'work', icon: 'print', needs: 'jobs:act', key: 'd', show: () => <Print /> },
  jobs: {
    group: 'work',
    icon: 'jobs',
    needs: 'jobs:read',
    key: 'j',
    show: (id) => (id === undefined ? <Jobs /> : <JobPage id={id} />),
  },
  held: { group: 'work', icon: 'held', needs: 'jobs:read', key: 'h', show: (id) => <HeldJobs id={id} /> },
  printers: {
    group: 'work',
    icon: 'printers',
    needs: 'jobs:read',
    key: 'p',
    show: (id) => {
      if (id === WALL) return <Wall />;
      return id === undefined ? <Printers /> : <PrinterPage id={id} />;
    },
  },
  agents: { group: 'setUp', icon: 'agents', needs: 'jobs:read', key: 'n', show: () => <Agents /> },
  templates: {
    group: 'setUp',
    icon: 'templates',
    needs: 'jobs:read',
    key: 't',
    show: (id, what) => {
      if (id === undefined) return <Templates />;
      if (id === 'new') return <NewTemplate />;
      return what === 'design' ? <Designer id={id} /> : <TemplatePage id={id} />;
    },
  },
  integrations: {
    group: 'setUp',
    icon: 'integrations',
    needs: 'integrations',
    key: 'i',
    show: () => <Integrations />,
  },
  webhooks: {
    group: 'setUp',
    icon: 'webhooks',
    needs: 'integrations',
    key: 'w',
    show: (id) => (id === undefined ? <Webhooks /> : <WebhookPage id={id} />),
  },
  alerts: {
    group: 'administration',
    icon: 'alerts',
    needs: 'integrations',
    key: 'm',
    show: (id) => (id === undefined ? <Alerts /> : <AlertPage id={id} />),
  },
  people: { group: 'administration', icon: 'people', needs: 'people', key: 'e', show: () => <People /> },
  audit: { group: 'administration', icon: 'audit', needs: 'people', key: 'a', show: () => <Audit /> },
  account: {
    group: 'administration',
    icon: 'account',
    needs: 'jobs:read',
    key: 'c',
    show: () => <Account />,
  },
};

const names = new Map<string, PageName>();
for (const name of Object.keys(PAGES)) if (isPage(name)) names.set(name, name);

function isPage(name: string): name is PageName {
  return Object.hasOwn(PAGES, name);
}

export const PAGE_NAMES: readonly PageName[] = [...names.values()];

export function pageAt([first = 'start', id, what]: readonly string[]): ComponentChildren {
  const name = names.get(first);
  if (name !== undefined) return PAGES[name].show(id, what);
  return (
    <Page title={t.value.problem.noPage}>
      <NotFound />
    </Page>
  );
}
