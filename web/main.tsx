/** Entry point of the console: signs in, follows what changes at the service, and renders the pages. */
import './styles/console.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { comeBack, followAddress, takeToken } from './address/place.ts';
import { followEvents } from './service/events.ts';
import { findSession, session, signInByLink } from './service/session.ts';
import { followColours } from './shell/colours.ts';
import { Console } from './shell/console.tsx';
import { invitationToken } from './shell/invitation.tsx';
import { refused } from './shell/sign-in.tsx';
import { t } from './texts/texts.ts';

followAddress();
followColours();
effect(() => {
  document.documentElement.lang = t.value.locale;
});

// The service reports changes for the signed-in person: another person needs another stream.
let stopEvents = () => {};
let followed: string | undefined;
effect(() => {
  const person = session.value?.person.id;
  if (person === followed) return;
  followed = person;
  stopEvents();
  stopEvents = person === undefined ? () => {} : followEvents();
});

const link = takeToken('sign-in');
refused.value = takeToken('refused');
comeBack();
invitationToken.value = takeToken('invitation');
if (link === undefined) void findSession();
else void signInByLink(link);

const place = document.getElementById('console');
if (place !== null) render(<Console />, place);
