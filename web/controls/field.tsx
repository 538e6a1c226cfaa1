/** Form fields: a label, an input or a choice, and below it a hint and a fault. */

import type { Signal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

type FieldProps = {
  label: string;
  hint?: string | undefined;
  fault?: string | undefined;
  children: (attributes: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
  }) => ComponentChildren;
};

export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const about = hint === undefined && fault === undefined ? {} : { 'aria-describedby': `${id}-about` };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...about, ...(fault === undefined ? {} : { 'aria-invalid': true }) })}
      {(hint !== undefined || fault !== undefined) && (
        <div id={`${id}-about`}>
          {fault !== undefined && <div class="fault">{fault}</div>}
          {hint !== undefined && <div class="hint anywhere">{hint}</div>}
        </div>
      )}
    </div>
  );
}

type TextProps = {
  label: string;
  value: string;
  onText: (text: string) => void;
  hint?: string | undefined;
  fault?: string | undefined;
  type?: 'text' | 'password' | 'number';
  autocomplete?: InputHTMLAttributes['autocomplete'];
  inputMode?: 'numeric';
  required?: boolean;
  minLength?: number;
  maxLength?: number;
  min?: number;
  max?: number;
  placeholder?: string;
  /** The ID of a `datalist`. */
  list?: string;
};

export function TextField({ label, value, onText, hint, fault, type = 'text', ...rest }: TextProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(attributes) => {
        const shared = {
          class: 'input',
          ...attributes,
          ...rest,
          value,
          onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onText(currentTarget.value),
        };
        if (type === 'password') return <input type="password" {...shared} />;
        return type === 'number' ? <input type="number" {...shared} /> : <input type="text" {...shared} />;
      }}
    </Field>
  );
}

/** Binds a field to a signal: every keystroke changes `text`. */
export function typed(text: Signal<string>): Pick<TextProps, 'value' | 'onText'> {
  return {
    value: text.value,
    onText: (now) => {
      text.value = now;
    },
  };
}

type Option = { value: string; words: string };

type ChoiceProps = {
  label: string;
  value: string;
  options: readonly Option[];
  onChoice: (value: string) => void;
  hint?: string | undefined;
};

export function ChoiceField({ label, value, options, onChoice, hint }: ChoiceProps) {
  return (
    <Field label={label} hint={hint}>
      {(attributes) => <Choice {...attributes} value={value} options={options} onChoice={onChoice} />}
    </Field>
  );
}

type BareChoice = Omit<ChoiceProps, 'label' | 'hint'> & {
  id?: string;
  'aria-label'?: string;
  'aria-describedby'?: string;
};

/** A choice without a visible label. */
export function Choice({ value, options, onChoice, ...rest }: BareChoice) {
  return (
    <select {...rest} value={value} onChange={({ currentTarget }) => onChoice(currentTarget.value)}>
      {options.map((option) => (
        <option key={option.value} value={option.value} selected={option.value === value}>
          {option.words}
        </option>
      ))}
    </select>
  );
}

type CheckProps = {
  label: string;
  checked: boolean;
  onCheck: (checked: boolean) => void;
  indeterminate?: boolean;
};

export function Check({ label, onCheck, ...rest }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" {...rest} onChange={({ currentTarget }) => onCheck(currentTarget.checked)} />
      {label}
    </label>
  );
}

/** Binds a checkbox to a signal. */
export function ticked(flag: Signal<boolean>): Pick<CheckProps, 'checked' | 'onCheck'> {
  return {
    checked: flag.value,
    onCheck: (now) => {
      flag.value = now;
    },
  };
}

type SeveralProps<T extends string> = {
  label: string;
  options: readonly { value: T; words: string }[];
  chosen: readonly T[];
  onChosen: (chosen: T[]) => void;
};

/** Options of which any number can be chosen. */
export function SeveralField<T extends string>({ label, options, chosen, onChosen }: SeveralProps<T>) {
  return (
    <fieldset>
      <legend class="label">{label}</legend>
      {options.map(({ value, words }) => (
        <Check
          key={value}
          label={words}
          checked={chosen.includes(value)}
          onCheck={(now) => {
            const all = options.map((one) => one.value);
            onChosen(all.filter((one) => (one === value ? now : chosen.includes(one))));
          }}
        />
      ))}
    </fieldset>
  );
}

/** Binds a field of several options to a signal. */
export function picked<T extends string>(
  options: Signal<readonly T[]>,
): Pick<SeveralProps<T>, 'chosen' | 'onChosen'> {
  return {
    chosen: options.value,
    onChosen: (now) => {
      options.value = now;
    },
  };
}
