/** The page for a new template: an empty label of a chosen size, or one of the samples. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { templateView } from '../../src/contract/admin.ts';
import { go, to } from '../address/place.ts';
import { ChoiceField, TextField, typed } from '../controls/field.tsx';
import { Page } from '../controls/page.tsx';
import { Problem } from '../controls/problem.tsx';
import { call, errorOf } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';
import { freeName } from '../templates/free-name.ts';
import { drawInTurn } from '../templates/preview.ts';
import { type Found, SamplePicture } from '../templates/template-picture.tsx';
import { t } from '../texts/texts.ts';
import { isLabel, type LabelDocument } from './document.ts';
import { NumberInput } from './number-input.tsx';
import { SAMPLES } from './samples.ts';

/** mm: sizes of label rolls that are sold, with the parcel label of 4 × 6 in first. */
const SIZES = [
  [101.6, 152.4],
  [100, 150],
  [100, 100],
  [100, 70],
  [100, 50],
  [76, 51],
  [70, 38],
  [57, 32],
  [50, 25],
  [38, 25],
  [25, 10],
] as const;
const OTHER = 'other';
/** The width of a sample's picture, in pixels. */
const WIDTH = 400;

export function NewTemplate() {
  const { designer: words, general } = t.value;
  const name = useSignal(words.newName);
  const size = useSignal('0');
  const own = useSignal({ width: 100, height: 50 });
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const sides = () => {
    const [width, height] = SIZES[Number(size.value)] ?? [own.value.width, own.value.height];
    return { width, height };
  };
  const begin = async (label: LabelDocument) => {
    if (busy.value) return;
    busy.value = true;
    problem.value = undefined;
    try {
      const body = { ...label, name: await freeName(label.name) };
      const { id } = await call(templateView, ofTenant('/templates'), { body });
      go(['templates', id, 'design']);
    } catch (error) {
      problem.value = errorOf(error);
      busy.value = false;
    }
  };
  const empty: LabelDocument = { name: name.value.trim(), ...sides(), fields: [], elements: [] };
  const side = (which: 'width' | 'height') => (value: number | undefined) => {
    if (value === undefined || !isLabel({ ...empty, name: 'x', [which]: value })) return false;
    own.value = { ...own.value, [which]: value };
    return true;
  };
  return (
    <Page title={words.create} crumb={{ words: t.value.templates.title, href: to(['templates']) }}>
      <div class="stack wide">
        <p class="muted">{words.createHint}</p>
        {problem.value !== undefined && <Problem problem={problem.value} />}
        <form
          class="stack narrow"
          onSubmit={(event) => {
            event.preventDefault();
            void begin(empty);
          }}
        >
          <TextField label={words.labelName} required maxLength={190} {...typed(name)} />
          <ChoiceField
            label={words.size}
            value={size.value}
            options={[
              ...SIZES.map(([width, height], at) => ({
                value: String(at),
                words: general.mm(width, height),
              })),
              { value: OTHER, words: words.otherSize },
            ]}
            onChoice={(value) => {
              size.value = value;
            }}
          />
          {size.value === OTHER && (
            <div class="property-grid">
              <NumberInput label={words.width} value={own.value.width} onNumber={side('width')} />
              <NumberInput label={words.height} value={own.value.height} onNumber={side('height')} />
            </div>
          )}
          <div class="row">
            <button type="submit" class="button primary" disabled={busy.value || !isLabel(empty)}>
              {words.createEmpty}
            </button>
          </div>
        </form>
        <section class="stack tight">
          <h2>{words.samples}</h2>
          <ul class="gallery">
            {SAMPLES.map((sample) => (
              <li key={sample.name} class="tile">
                <div class="stage">
                  <Sample label={sample} />
                </div>
                <div class="about">
                  <span class="anywhere">{sample.name}</span>
                  <div class="row">
                    <button
                      type="button"
                      class="button"
                      aria-label={words.about(words.useSample, sample.name)}
                      disabled={busy.value}
                      onClick={() => void begin(sample)}
                    >
                      {words.useSample}
                    </button>
                  </div>
                </div>
              </li>
            ))}
          </ul>
        </section>
      </div>
    </Page>
  );
}

function Sample({ label }: { label: LabelDocument }) {
  const found = useSignal<Found>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    drawInTurn({ template: label, width: WIDTH }, stop.signal).then(
      ({ png }) => {
        found.value = png;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) found.value = errorOf(error);
      },
    );
    return () => stop.abort();
  }, [label]);
  return <SamplePicture found={found.value} name={label.name} />;
}
