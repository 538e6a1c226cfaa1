/** The panel for a sheet of labels: the size of the page, how many labels lie across and down, and their distances. */
import { useSignal } from '@preact/signals';
import { cellCorner, type LabelSheet, sheetFaults } from '../../src/contract/sheet.ts';
import { ChoiceField } from '../controls/field.tsx';
import { reasonWords } from '../controls/reason-words.ts';
import { numeral, t } from '../texts/texts.ts';
import { rounded } from './document.ts';
import type { Editor } from './editor.ts';
import { NumberInput } from './number-input.tsx';

/** mm: A4 and US Letter. */
const PAGES = [
  { width: 210, height: 297 },
  { width: 215.9, height: 279.4 },
];
const NUMBERS = ['width', 'height', 'columns', 'rows', 'left', 'top', 'pitchX', 'pitchY'] as const;
type Name = (typeof NUMBERS)[number];

/** A sheet with as many labels as fit on the page, in its middle. */
function sheetFor(
  label: { width: number; height: number },
  page: { width: number; height: number },
): LabelSheet | undefined {
  const columns = Math.min(Math.floor(page.width / label.width), 100);
  const rows = Math.min(Math.floor(page.height / label.height), Math.floor(1_000 / Math.max(1, columns)));
  if (columns < 1 || rows < 1) return undefined;
  const left = rounded((page.width - columns * label.width) / 2);
  return { ...page, columns, rows, left, top: rounded((page.height - rows * label.height) / 2) };
}

export function SheetPanel({ editor }: { editor: Editor }) {
  const { designer: words, general } = t.value;
  const label = editor.scene.value.document;
  const { sheet } = label;
  /** Typed values that do not go together yet. Once they do, they are set in the label. */
  const typed = useSignal<LabelSheet | undefined>(undefined);
  const shown = typed.value ?? sheet;
  const put = (next: LabelSheet | undefined, word?: string) => {
    const before = editor.scene.peek().document.sheet;
    const taken = editor.setLabel({ sheet: next }, word) || JSON.stringify(next) === JSON.stringify(before);
    typed.value = taken ? undefined : next;
  };
  const set = (name: Name) => (value: number | undefined) => {
    if (shown === undefined) return false;
    if (value === undefined) {
      if (name !== 'pitchX' && name !== 'pitchY') return false;
      const { [name]: _, ...rest } = shown;
      put(rest, `sheet ${name}`);
      return true;
    }
    const whole = name === 'columns' || name === 'rows';
    if (whole ? !Number.isInteger(value) || value < 1 || value > 1_000 : value < 0 || value > 2_000)
      return false;
    put({ ...shown, [name]: value }, `sheet ${name}`);
    return true;
  };
  const pages = PAGES.flatMap((page) => sheetFor(label, page) ?? []);
  const faults = shown === undefined ? [] : sheetFaults(label, shown);
  return (
    <section class="stack tight" aria-label={words.sheet.title}>
      <h2 class="label">{words.sheet.title}</h2>
      <ChoiceField
        label={words.sheet.prints}
        value={shown === undefined ? 'single' : 'sheet'}
        options={[
          { value: 'single', words: words.sheet.single },
          ...(pages.length > 0 || shown !== undefined
            ? [{ value: 'sheet', words: words.sheet.several }]
            : []),
        ]}
        onChoice={(choice) => put(choice === 'single' ? undefined : (sheet ?? pages[0]))}
      />
      {shown !== undefined && (
        <>
          <div class="row">
            {pages.map((page) => (
              <button key={page.width} type="button" class="button" onClick={() => put(page)}>
                {words.sheet.fill(general.mm(page.width, page.height))}
              </button>
            ))}
          </div>
          <div class="property-grid">
            {NUMBERS.map((name) => (
              <NumberInput
                key={name}
                label={words.sheet.property[name]}
                value={shown[name]}
                step={name === 'columns' || name === 'rows' ? 1 : 0.5}
                optional={name === 'pitchX' || name === 'pitchY'}
                fallback={
                  name === 'pitchX'
                    ? numeral(label.width)
                    : name === 'pitchY'
                      ? numeral(label.height)
                      : undefined
                }
                onNumber={set(name)}
              />
            ))}
          </div>
          {faults.map(({ path, reason }) => (
            <p key={path.join()} class="note bad small anywhere" role="alert">
              {reasonWords(reason)}
            </p>
          ))}
          <SheetPicture label={label} sheet={shown} />
        </>
      )}
    </section>
  );
}

function SheetPicture({ label, sheet }: { label: { width: number; height: number }; sheet: LabelSheet }) {
  const { designer: words } = t.value;
  const count = Math.min(sheet.columns * sheet.rows, 1_000);
  return (
    <svg
      class="sheet-picture"
      viewBox={`0 0 ${sheet.width} ${sheet.height}`}
      role="img"
      aria-label={words.sheet.picture(sheet.columns, sheet.rows)}
    >
      <rect class="page-edge" width={sheet.width} height={sheet.height} />
      {Array.from({ length: count }, (_, cell) => (
        <rect
          key={cell}
          class="cell"
          {...cellCorner(label, sheet, cell)}
          width={label.width}
          height={label.height}
        />
      ))}
    </svg>
  );
}
