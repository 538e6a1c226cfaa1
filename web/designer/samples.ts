/** Sample labels from which to start: the project's own templates. */
import address from '../../templates/address-sheet-a4-3x8.json' with { type: 'json' };
import blood from '../../templates/blood-bag-isbt128-100x100.json' with { type: 'json' };
import cable from '../../templates/cable-wrap-25x57.json' with { type: 'json' };
import chemical from '../../templates/ghs-chemical-100x70.json' with { type: 'json' };
import logistic from '../../templates/gs1-logistic-4x6.json' with { type: 'json' };
import price from '../../templates/price-70x38.json' with { type: 'json' };
import shelf from '../../templates/shelf-50x25.json' with { type: 'json' };
import shipping from '../../templates/shipping-4x6.json' with { type: 'json' };
import tube from '../../templates/tube-datamatrix.json' with { type: 'json' };
import { isLabel } from './document.ts';

const files: readonly unknown[] = [shipping, logistic, shelf, price, chemical, blood, tube, cable, address];
export const SAMPLES = files.filter(isLabel);
