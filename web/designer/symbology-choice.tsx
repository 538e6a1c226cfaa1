/** A dialog for choosing a symbology, which people find by a part of its name. */
import { useSignal } from '@preact/signals';
import { SYMBOLOGIES, type Symbology } from '../../src/contract/template.ts';
import { Dialog } from '../controls/dialog.tsx';
import { typed } from '../controls/field.tsx';
import { Opens } from '../controls/opens.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { t } from '../texts/texts.ts';
import { change, type LabelElement, type Placed } from './document.ts';
import type { Editor } from './editor.ts';
import { withSymbology } from './new-elements.ts';
import { SYMBOLOGY_NAMES } from './symbology-names.ts';

type Props = { editor: Editor; own: Placed; element: Extract<LabelElement, { type: 'barcode' }> };

export function SymbologyChoice({ editor, own, element }: Props) {
  const { designer: words } = t.value;
  const open = useSignal(false);
  const search = useSignal('');
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const found = SYMBOLOGIES.filter((name) =>
    [name, SYMBOLOGY_NAMES[name]].some((one) => plain(one).includes(plain(search.value))),
  );
  const close = () => {
    open.value = false;
    search.value = '';
  };
  const choose = (symbology: Symbology) => {
    editor.do((scene) =>
      change(scene, [own.key], (now) => (now.type === 'barcode' ? withSymbology(now, symbology) : now)),
    );
    close();
  };
  return (
    <div class="field">
      <span class="label">{words.property.symbology}</span>
      <Opens what={open} label={`${words.property.symbology}: ${SYMBOLOGY_NAMES[element.symbology]}`}>
        {SYMBOLOGY_NAMES[element.symbology]}
      </Opens>
      {open.value && (
        <Dialog title={words.property.symbology} onClose={close}>
          <SearchField
            label={words.symbologySearch}
            {...typed(search)}
            onEnter={() => {
              const [first] = found;
              if (first !== undefined) choose(first);
            }}
          />
          <ul class="symbologies">
            {found.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  class={name === element.symbology ? 'button chosen' : 'button quiet'}
                  aria-pressed={name === element.symbology}
                  onClick={() => choose(name)}
                >
                  {SYMBOLOGY_NAMES[name]}
                </button>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </div>
  );
}
