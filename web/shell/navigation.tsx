/** The navigation, with links to all pages. On a narrow screen it is a drawer behind a button. */
import { useEffect } from 'preact/hooks';
import { agentCounts } from '../../src/contract/agent-view.ts';
import { jobCounts } from '../../src/contract/job-search.ts';
import { printerCounts } from '../../src/contract/printer-view.ts';
import { place, to } from '../address/place.ts';
import { Icon } from '../controls/icon.tsx';
import { countWords } from '../jobs/job-words.tsx';
import { useLive } from '../service/live.ts';
import { may, session } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { GROUPS, PAGE_NAMES, PAGES, type PageName } from './pages.tsx';
import { showShortcuts } from './shortcuts.tsx';

const DRAWER = 'navigation-drawer';

export function Navigation() {
  const { live } = useLive(jobCounts, '/jobs/counts', ({ jobs }) => jobs.length > 0);
  const printers = useLive(printerCounts, '/printers/counts', (change) => change.printers.length > 0).live;
  const ofAgents = may('integrations') ? '/agents/counts' : null;
  const agents = useLive(agentCounts, ofAgents, (change) => change.agents.length > 0).live;
  const counts: Counts = {
    held: live.data?.undecided ?? 0,
    printers: printers.data?.standing ?? 0,
    agents: agents.data?.waiting ?? 0,
  };
  const all = counts.held + counts.printers + counts.agents;
  const [current = 'start'] = place.value.path;
  useEffect(() => {
    const drawer = document.getElementById(DRAWER);
    if (drawer?.matches(':popover-open')) drawer.hidePopover();
  }, [place.value]);
  return (
    <>
      <header class="side">
        <Brand />
        <Links current={current} counts={counts} />
      </header>
      <header class="top">
        <Brand />
        <button type="button" class="button quiet" popovertarget={DRAWER}>
          <Icon name="menu" />
          <span class="unseen">{t.value.general.menu}</span>
          {all > 0 && <span class="count">{countWords(all)}</span>}
        </button>
        <div id={DRAWER} class="drawer" popover="auto">
          <Links current={current} counts={counts} />
        </div>
      </header>
    </>
  );
}

function Brand() {
  const workspace = session.value?.tenant.name;
  return (
    <a class="brand" href={to([])}>
      <img src="icon.svg" alt="" />
      <span class="anywhere">{workspace ?? t.value.general.product}</span>
    </a>
  );
}

/** For each of these pages, how many things there wait for somebody. */
type Counts = Readonly<Record<'held' | 'printers' | 'agents', number>>;

function Links({ current, counts }: { current: string; counts: Counts }) {
  const { nav } = t.value;
  const link = (name: PageName) => (
    <a
      key={name}
      href={to(name === 'start' ? [] : [name])}
      aria-current={current === name ? 'page' : undefined}
    >
      <Icon name={PAGES[name].icon} />
      {name === 'account' ? (session.value?.person.name ?? nav.account) : nav[name]}
      {(name === 'held' || name === 'printers' || name === 'agents') && counts[name] > 0 && (
        <span class="count" title={nav.waits[name]}>
          {countWords(counts[name])}
        </span>
      )}
    </a>
  );
  const shown = PAGE_NAMES.filter((name) => may(PAGES[name].needs) && name !== 'account');
  return (
    <>
      <nav class="nav" aria-label={nav.label}>
        {GROUPS.map((group) => {
          const links = shown.filter((name) => PAGES[name].group === group).map(link);
          return (
            links.length > 0 && (
              <div key={group} class="nav-group">
                {group !== 'work' && <p class="small muted">{nav.groups[group]}</p>}
                {links}
              </div>
            )
          );
        })}
      </nav>
      <div class="nav side-end">
        {link('account')}
        <button type="button" class="keys" onClick={showShortcuts}>
          {nav.shortcuts} <kbd>?</kbd>
        </button>
      </div>
    </>
  );
}
