/** A dialog for choosing an AI: a known one by its number or its name, any other by its number. */
import { useSignal } from '@preact/signals';
import { Dialog } from '../../controls/dialog.tsx';
import { typed } from '../../controls/field.tsx';
import { SearchField } from '../../controls/search-field.tsx';
import { IDENTIFIERS, type Identifier, identifierOf, newAi } from '../../templates/gs1-identifiers.ts';
import { t } from '../../texts/texts.ts';
import { formatWords } from './words.ts';

export function AiChoice({ onAi, onClose }: { onAi: (ai: string) => void; onClose: () => void }) {
  const { gs1: words } = t.value;
  const search = useSignal('');
  const wanted = search.value.trim().replaceAll(/[()]/g, '').toLowerCase();
  const known = Object.keys(IDENTIFIERS).filter((one): one is Identifier => identifierOf(one) !== undefined);
  // They are sorted as texts, as GS1 lists them: `00`, then `20`, then `240`.
  const order = known.toSorted((a, b) => (a < b ? -1 : 1));
  const found = order.filter(
    (one) =>
      one.replace('n', '').startsWith(wanted) ||
      identifierOf(wanted) === one ||
      words.identifier[one].toLowerCase().includes(wanted),
  );
  const exact = /^\d{2,4}$/.test(wanted);
  const other = exact && identifierOf(wanted) === undefined ? wanted : undefined;
  const [first] = found;
  // A number that is typed in full is added as it stands: `3102` where the table has `310n`, or one that the table does not have.
  const meant = exact && (other !== undefined || identifierOf(wanted) !== wanted) ? wanted : undefined;
  const take = () => {
    if (meant !== undefined && (other !== undefined || meant.length === 4)) onAi(meant);
    else if (first !== undefined) onAi(newAi(first));
  };
  return (
    <Dialog title={words.add} onClose={onClose}>
      <SearchField label={words.search} {...typed(search)} onEnter={take} />
      <ul class="identifiers">
        {other !== undefined && (
          <li>
            <button type="button" class="button quiet" onClick={() => onAi(other)}>
              <span class="numbers">({other})</span> {words.other}
            </button>
          </li>
        )}
        {found.map((one) => (
          <li key={one}>
            <button type="button" class="button quiet" onClick={() => onAi(newAi(one))}>
              <span class="numbers">({one})</span>
              <span>
                {words.identifier[one]}
                <span class="muted small"> {formatWords(IDENTIFIERS[one])}</span>
              </span>
            </button>
          </li>
        ))}
        {found.length === 0 && other === undefined && <li class="muted">{words.noneFound}</li>}
      </ul>
    </Dialog>
  );
}
