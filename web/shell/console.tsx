/** The whole console: shows the sign-in page, an invitation, or the page that the address names. */
import { Component, type ComponentChildren } from 'preact';
import { place } from '../address/place.ts';
import { Problem } from '../controls/problem.tsx';
import { Toasts } from '../controls/toast.tsx';
import { Outcomes } from '../jobs/outcomes.tsx';
import { WALL } from '../printers/printers.tsx';
import { errorOf } from '../service/call.ts';
import { silentSince } from '../service/live.ts';
import { session } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { Invitation, invitationToken } from './invitation.tsx';
import { Navigation } from './navigation.tsx';
import { pageAt } from './pages.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { SignIn } from './sign-in.tsx';

export function Console() {
  return (
    <>
      <Content />
      <Toasts />
    </>
  );
}

function Content() {
  if (invitationToken.value !== undefined) return <Invitation token={invitationToken.value} />;
  if (session.value === undefined) {
    return (
      <p class="waiting" role="status">
        {t.value.signIn.working}
      </p>
    );
  }
  if (session.value === null) return <SignIn />;
  const { path } = place.value;
  // A monitor in the hall has no navigation, because nobody goes from page to page there.
  const whole = path[0] === 'printers' && path[1] === WALL;
  return (
    <div class={whole ? 'shell whole' : 'shell'}>
      <button type="button" class="skip" onClick={toContent}>
        {t.value.general.skip}
      </button>
      {!whole && <Navigation />}
      <main id="main" class="page">
        {silentSince.value !== null && (
          <div class="note warn" role="alert">
            {t.value.problem.silent(when(silentSince.value))}
          </div>
        )}
        <Guard key={path.join('/')}>{pageAt(path)}</Guard>
      </main>
      <Shortcuts />
      <Outcomes />
    </div>
  );
}

function toContent(): void {
  document.querySelector('h1')?.focus();
}

/** Catches the error of a page that fails, so that navigation and shortcuts go on working. */
class Guard extends Component<{ children: ComponentChildren }, { problem: Error | undefined }> {
  override state: { problem: Error | undefined } = { problem: undefined };

  override componentDidCatch(error: unknown): void {
    this.setState({ problem: errorOf(error) });
    console.error(error);
  }

  override render() {
    if (this.state.problem === undefined) return this.props.children;
    return <Problem problem={new Error(t.value.problem.broken)} onRetry={() => location.reload()} />;
  }
}
