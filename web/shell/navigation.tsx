/** The navigation: links to all pages; on a narrow screen, a drawer behind a button. */
import { useEffect } from 'preact/hooks';
import { jobCounts } from '../../src/contract/job-search.ts';
import { place, to } from '../address/place.ts';
import { Icon } from '../controls/icon.tsx';
import { countWords } from '../jobs/job-words.tsx';
import { useLive } from '../service/live.ts';
import { may, session } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { PAGE_NAMES, PAGES, type PageName } from './pages.tsx';
import { showShortcuts } from './shortcuts.tsx';

const DRAWER = 'navigation-drawer';

export function Navigation() {
  const { live } = useLive(jobCounts, '/jobs/counts', ({ jobs }) => jobs.length > 0);
  const held = live.data?.undecided ?? 0;
  const [current = 'start'] = place.value.path;
  useEffect(() => {
    const drawer = document.getElementById(DRAWER);
    if (drawer?.matches(':popover-open')) drawer.hidePopover();
  }, [place.value]);
  return (
    <>
      <header class="side">
        <Brand />
        <Links current={current} held={held} />
      </header>
      <header class="top">
        <Brand />
        <button type="button" class="button quiet" popovertarget={DRAWER}>
          <Icon name="menu" />
          <span class="unseen">{t.value.general.menu}</span>
          {held > 0 && <span class="count">{countWords(held)}</span>}
        </button>
        <div id={DRAWER} class="drawer" popover="auto">
          <Links current={current} held={held} />
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

function Links({ current, held }: { current: string; held: number }) {
  const { nav } = t.value;
  const link = (name: PageName) => (
    <a
      key={name}
      href={to(name === 'start' ? [] : [name])}
      aria-current={current === name ? 'page' : undefined}
    >
      <Icon name={PAGES[name].icon} />
      {name === 'account' ? (session.value?.person.name ?? nav.account) : nav[name]}
      {name === 'held' && held > 0 && <span class="count">{countWords(held)}</span>}
    </a>
  );
  const shown = PAGE_NAMES.filter((name) => may(PAGES[name].needs) && name !== 'account');
  return (
    <>
      <nav class="nav" aria-label={nav.label}>
        {shown.map(link)}
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
