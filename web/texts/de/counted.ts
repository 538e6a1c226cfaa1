/** German words for counted things. */
export const many = (n: number, one: string, more: string) =>
  `${n.toLocaleString('de')} ${n === 1 ? one : more}`;
export const labels = (n: number) => many(n, 'Etikett', 'Etiketten');
export const jobs = (n: number) => many(n, 'Auftrag', 'Aufträge');
/** The verb that goes with what is counted: „geht“ or „gehen“. */
export const verb = (n: number, one: string, more: string) => (n === 1 ? one : more);
/** `13`, `12 oder 13`, `höchstens 8`. */
export const span = (least: number, most: number) =>
  least === most ? `${most}` : least === most - 1 ? `${least} oder ${most}` : `höchstens ${most}`;
