/** The session: who is signed in, what they may do, and how people sign in and out. */
import { signal } from '@preact/signals';
import { z } from 'zod';
import { LIMITS } from '../../src/contract/limits.ts';
import {
  type InvitationView,
  invitationView,
  type Need,
  type SessionView,
  sessionView,
} from '../../src/contract/people.ts';
import type { PrinterView } from '../../src/contract/printer-view.ts';
import { call, errorOf, Refusal, whenSignedOut } from './call.ts';
import { signedOut } from './provider.ts';

/** `undefined`: not known yet. `null`: nobody is signed in. */
export const session = signal<SessionView | null | undefined>(undefined);
/** Why the last attempt to open a session failed; undefined: it did not, or nobody was signed in. */
export const sessionProblem = signal<Error | undefined>(undefined);

whenSignedOut(() => {
  if (session.value !== undefined) session.value = null;
});

export function may(need: Need): boolean {
  return session.value?.may.includes(need) ?? false;
}

/** Whoever runs the deployment also sees shared printers that their own workspace may not use. */
export function mayPrintOn({ grantedTo }: Pick<PrinterView, 'grantedTo'>): boolean {
  return grantedTo?.includes(session.value?.tenant.id ?? '') ?? true;
}

/** How many records and labels a job may have in this deployment. */
export function jobLimits(): SessionView['limits'] {
  return session.value?.limits ?? LIMITS;
}

/** A path below that of the person's tenant. */
export function ofTenant(path: string): string {
  return `/tenants/${encodeURIComponent(session.value?.tenant.id ?? '')}${path}`;
}

/** Repeats the last attempt to open a session. It holds the token of a link, which is kept nowhere else. */
let lastAttempt = () => enter(found);

/** Tries again to open the session, after `sessionProblem`. */
export async function enterAgain(): Promise<void> {
  await lastAttempt();
}

export async function findSession(): Promise<void> {
  await enter(found);
}

async function found(): Promise<SessionView> {
  const view = await call(sessionView, '/session');
  if (signedOut.value === 'asking') signedOut.keep('');
  return view;
}

/** Whether a link was refused: it has been used, is too old, or was cut when somebody copied it. */
export function isSpent(problem: Error | undefined): boolean {
  return problem instanceof Refusal && (problem.status === 400 || problem.status === 410);
}

export async function signInByLink(token: string): Promise<void> {
  await enter(() => call(sessionView, '/session/link', { body: { token } }));
}

/** @throws as `call`; the form shows the error beside the password */
export async function signInByPassword(tenant: string, login: string, password: string): Promise<void> {
  signedIn(await call(sessionView, '/session', { body: { tenant, login, password } }));
}

export function invitation(token: string): Promise<InvitationView> {
  return call(invitationView, '/invitations/look', { body: { token } });
}

export async function acceptInvitation(token: string, password: string, name: string): Promise<void> {
  const body = { token, password, ...(name === '' ? {} : { name }) };
  signedIn(await call(sessionView, '/invitations/accept', { body }));
}

/** Takes an open session, which ends the problem of any earlier attempt. */
export function signedIn(view: SessionView): void {
  session.value = view;
  sessionProblem.value = undefined;
}

/** @throws as `call`; as far as the page knows, the person is still signed in then */
export async function signOut(everywhere: boolean): Promise<void> {
  // This is kept before the service is asked, because it may end the session and its answer may be lost.
  signedOut.keep('yes');
  await call(z.unknown(), everywhere ? '/sessions' : '/session', { method: 'DELETE' });
  session.value = null;
}

async function enter(ask: () => Promise<SessionView>): Promise<void> {
  lastAttempt = () => enter(ask);
  try {
    signedIn(await ask());
  } catch (error) {
    const problem = errorOf(error);
    // 401 only means that nobody is signed in, which is no problem. A used link is refused with 410, which is shown.
    sessionProblem.value = problem instanceof Refusal && problem.status === 401 ? undefined : problem;
    session.value = null;
  }
}
