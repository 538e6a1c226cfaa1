/** Counted things, in words. */
export const many = (n: number, one: string, more: string) =>
  `${n.toLocaleString('en')} ${n === 1 ? one : more}`;
export const labels = (n: number) => many(n, 'label', 'labels');
export const jobs = (n: number) => many(n, 'job', 'jobs');
/** Goes with what is counted: "is" or "are". */
export const verb = (n: number, one: string, more: string) => (n === 1 ? one : more);
