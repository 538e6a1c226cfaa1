/** AIs whose values end by their length, so that no FNC1 follows them (GS1 General Specifications, predefined lengths). */
const FIXED_LENGTH = /^(?:0[0-4]|1[1-9]|20|3[1-6]|41)/;

export function endsByLength(ai: string): boolean {
  return FIXED_LENGTH.test(ai);
}
