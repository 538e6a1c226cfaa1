/**
 * The part of an invalid template that can be checked all the same, so that one misspelt word does not hide the other
 * faults.
 */
import { z } from 'zod';
import { type DesignedTemplate, designedTemplate } from './template.ts';

type Issues = readonly z.core.$ZodIssue[];

interface TemplateRemains {
  /** The template, with stand-ins for elements that could not be read. */
  readonly template: DesignedTemplate;
  /** Whether a JSON pointer leads into an element that could not be read. */
  isLost(pointer: string): boolean;
}

/** Takes the place of a lost element, so that the others keep their indexes. */
const STAND_IN = { type: 'box', x: 0, y: 0, width: 1, height: 1 };

const designed = z.looseObject({ elements: z.array(z.unknown()) });

/**
 * @param issues what the schema found
 * @returns undefined if more is wrong than some of the elements, the name, or unknown members
 */
export function templateRemains(source: unknown, issues: Issues): TemplateRemains | undefined {
  const parsed = designed.safeParse(source);
  if (!parsed.success) return undefined;
  const { elements, ...rest } = parsed.data;
  const members: Record<string, unknown> = { ...rest };
  const lost = new Set<number>();
  for (const issue of issues) {
    const [member, index] = issue.path;
    if (member === 'elements' && typeof index === 'number') lost.add(index);
    else if (member === 'name') members['name'] = 'unnamed';
    else if (member === undefined && issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) delete members[key];
    } else return undefined;
  }
  const remaining = elements.map((element, index) => (lost.has(index) ? STAND_IN : element));
  const template = designedTemplate.safeParse({ ...members, elements: remaining });
  if (!template.success) return undefined;
  return {
    template: template.data,
    isLost: (pointer) => {
      const [, index] = /^\/elements\/(\d+)(?:\/|$)/.exec(pointer) ?? [];
      return index !== undefined && lost.has(Number(index));
    },
  };
}
