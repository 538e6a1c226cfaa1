/** Dialogs for service accounts: create one, show its secret once, add a second secret, revoke. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import {
  type IntegrationCreated,
  type IntegrationRotated,
  type IntegrationView,
  integrationCreated,
  integrationRotated,
  PERMISSIONS,
  type Permission,
  templateView,
  USUAL_SCOPE,
} from '../../src/contract/admin.ts';
import { AskToEnd } from '../controls/asks.tsx';
import { CopyButton } from '../controls/copy.tsx';
import { Ask, Dialog } from '../controls/dialog.tsx';
import { Check, ChoiceField, picked, SeveralField, TextField, ticked, typed } from '../controls/field.tsx';
import { OnlyHere } from '../controls/only-here.tsx';
import { printerList } from '../printers/printer-words.tsx';
import { call } from '../service/call.ts';
import { ofTheTenant, useLive } from '../service/live.ts';
import { mayPrintOn, ofTenant } from '../service/session.ts';
import { fieldsOf, savedTemplate } from '../templates/saved-template.ts';
import { t } from '../texts/texts.ts';
import { curlOf, type Example, NO_EXAMPLE } from './curl.ts';

type CreateProps = { onClose: () => void; onCreated: (account: IntegrationCreated) => void };

export function Create({ onClose, onCreated }: CreateProps) {
  const { integrations: words } = t.value;
  const name = useSignal('');
  const scope = useSignal<readonly Permission[]>(USUAL_SCOPE);
  const test = useSignal(false);
  return (
    <Ask
      title={words.createTitle}
      action={words.createSubmit}
      disabled={scope.value.length === 0 || name.value.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        const body = { name: name.value.trim(), scope: scope.value, test: test.value };
        onCreated(await call(integrationCreated, ofTenant('/integrations'), { body }));
      }}
    >
      <TextField
        label={words.name}
        required
        maxLength={200}
        placeholder={words.namePlaceholder}
        {...typed(name)}
      />
      <SeveralField
        label={words.scope}
        options={PERMISSIONS.map((value) => ({ value, words: words.may[value] }))}
        {...picked(scope)}
      />
      <div class="stack tight">
        <Check label={words.test} {...ticked(test)} />
        <p class="small muted">{words.testSays}</p>
      </div>
    </Ask>
  );
}

type SecretProps = {
  account: IntegrationCreated | IntegrationRotated;
  onClose: () => void;
};

export function Secret({ account, onClose }: SecretProps) {
  const { integrations: words } = t.value;
  const rows = [
    [words.key, account.apiKey],
    [words.secret, account.apiSecret],
    [words.tokenUrl, account.tokenUrl],
    [words.audience, account.audience],
    [words.tenant, account.tenant],
    [words.endpoint, account.printEndpoint],
    ...(account.printNodeKey === undefined ? [] : [[words.printNodeKey, account.printNodeKey] as const]),
  ] as const;
  const command = curlOf(account, useExample(account.test));
  return (
    <Dialog title={words.createdTitle} large stays closes={words.done} onClose={onClose}>
      <OnlyHere url={account.printEndpoint} says={words.onlyHere} />
      <p class="note warn">{'oldSecret' in account ? words.rotatedSays : words.createdSays}</p>
      {account.test && <p class="note">{words.testSays}</p>}
      <dl class="facts secret">
        {rows.map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} `} class="row">
            <code class="anywhere">{value}</code>
            <CopyButton text={value} about={name} />
          </dd>,
        ])}
      </dl>
      <div class="stack tight">
        <div class="row spread">
          <h3>{words.try}</h3>
          <CopyButton text={command} about={words.try} />
        </div>
        <p class="small muted">{words.trySays}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled with the keyboard too */}
        <pre class="code" tabIndex={0}>
          {command}
        </pre>
      </div>
    </Dialog>
  );
}

const pathOf = ({ apiKey }: IntegrationView, what = '') =>
  ofTenant(`/integrations/${encodeURIComponent(apiKey)}${what}`);

type RotateProps = {
  account: IntegrationView;
  onClose: () => void;
  onRotated: (account: IntegrationRotated) => void;
};

export function Rotate({ account, onClose, onRotated }: RotateProps) {
  const { integrations: words } = t.value;
  const hours = useSignal('168');
  return (
    <Ask
      title={words.rotateTitle(account.name)}
      action={words.rotateSubmit}
      onClose={onClose}
      onAction={async () => {
        const body = hours.value === '' ? {} : { oldForHours: Number(hours.value) };
        onRotated(await call(integrationRotated, pathOf(account, '/secrets'), { body }));
      }}
    >
      <p>{words.rotateSays}</p>
      <ChoiceField
        label={words.oldWorks}
        value={hours.value}
        onChoice={(value) => {
          hours.value = value;
        }}
        options={['24', '168', '720', ''].map((value) => ({
          value,
          words: Object.entries(words.oldUntil).find(([name]) => name === value)?.[1] ?? value,
        }))}
      />
    </Ask>
  );
}

type EndProps = {
  account: IntegrationView;
  /** What ends: the whole account, or the older or newer of its two secrets. */
  what: 'account' | 'old' | 'new';
  onDone: () => void;
  onClose: () => void;
};

/** Asks before it revokes the account or removes one of its secrets. */
export function End({ account, what, onDone, onClose }: EndProps) {
  const { integrations: words } = t.value;
  const { name } = account;
  const { title, action, says } = {
    account: { title: words.revokeTitle(name), action: words.revokeSubmit, says: words.revokeSays },
    old: { title: words.removeOldTitle(name), action: words.remove, says: words.removeOldSays },
    new: { title: words.removeNewTitle(name), action: words.remove, says: words.removeNewSays },
  }[what];
  return (
    <AskToEnd
      title={title}
      action={action}
      says={says}
      path={pathOf(account, what === 'account' ? '' : `/secrets/${what}`)}
      onDone={onDone}
      onClose={onClose}
    />
  );
}

/** Printers of `--sandbox` at which a first label would fail, be held or take long (`docs/sandbox.md`). */
const UNSUITABLE = new Set(['test-failed', 'test-held', 'test-slow']);

/**
 * What the command prints: the first template with its samples, at an idle printer if there is one.
 * @param test only printers that take tests are considered
 */
function useExample(test: boolean): Example {
  const printers = useLive(printerList, '/printers', () => false).live.data?.filter(
    (one) => !one.hidden && mayPrintOn(one) && (one.forTests || !test) && !UNSUITABLE.has(one.name),
  );
  const templates = useLive(z.array(templateView), ofTenant('/templates'), ofTheTenant).live.data;
  const [first] = templates ?? [];
  const path = first === undefined ? null : ofTenant(`/templates/${encodeURIComponent(first.id)}`);
  const saved = useLive(savedTemplate, path, ofTheTenant).live.data;
  const printer = printers?.find(({ status }) => status === 'idle') ?? printers?.[0];
  const values =
    saved && fieldsOf(saved).map(({ name, sample, default: usual }) => [name, sample ?? usual ?? '']);
  return {
    idT: saved?.id ?? NO_EXAMPLE.idT,
    printer: printer?.name ?? NO_EXAMPLE.printer,
    data: values === undefined ? NO_EXAMPLE.data : [Object.fromEntries(values)],
  };
}
