/** Words for counted things. */
export const many = (n: number, one: string, more: string) =>
  `${n.toLocaleString('en')} ${n === 1 ? one : more}`;
export const labels = (n: number) => many(n, 'label', 'labels');
export const jobs = (n: number) => many(n, 'job', 'jobs');
/** The verb that goes with what is counted: "is" or "are". */
export const verb = (n: number, one: string, more: string) => (n === 1 ? one : more);
/** `13`, `12 or 13`, `at most 8`. */
export const span = (least: number, most: number) =>
  least === most ? `${most}` : least === most - 1 ? `${least} or ${most}` : `at most ${most}`;
