/** Line drawings on a grid of 20, in the colour of the text around them. */
const PATHS = {
  start: 'M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1z',
  print: 'M6 8V3h8v5M6 14H4a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1h12a1 1 0 0 1 1 1v4a1 1 0 0 1-1 1h-2M6 12h8v5H6z',
  jobs: 'M7 5h10M7 10h10M7 15h10M3.5 5h.01M3.5 10h.01M3.5 15h.01',
  held: 'M10 6.5V11M10 14h.01M10 2.5 18 16.5H2z',
  printers:
    'M4 4h12a1 1 0 0 1 1 1v6H3V5a1 1 0 0 1 1-1zM3 11h14v4a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1zM6 14h4M14 14h.01',
  agents: 'M4 4h12v8H4zM2 16h16M8.5 12 8 16M11.5 12l.5 4',
  templates: 'M3 5h14v10H3zM6 8v4M8 8v4M10 8v4M13 8h1.5M13 12h1.5',
  integrations: 'M8 6 4 10l4 4M12 6l4 4-4 4',
  webhooks: 'M3 10h9M8.5 6 12.5 10l-4 4M16.5 4v12',
  alerts: 'M5 13.5V9a5 5 0 0 1 10 0v4.5l1.5 1.5h-13zM8.5 17.5h3',
  people:
    'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 16.5c0-3 2-4.5 5-4.5s5 1.5 5 4.5M13 4a3 3 0 0 1 0 5.5M14.5 12.2c2 .5 3 2 3 4.3',
  audit: 'M5 3h7l4 4v10H5zM12 3v4h4M8 11h5M8 14h5',
  account: 'M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3.5 17c0-3.5 2.6-5 6.5-5s6.5 1.5 6.5 5',
  text: 'M4 6V4h12v2M10 4v12M7.5 16h5',
  barcode: 'M4 4v12M7 4v12M9 4v12M12 4v12M16 4v12M14 4v12',
  box: 'M3 5h14v10H3z',
  ellipse: 'M10 5c4.4 0 7 2.2 7 5s-2.6 5-7 5-7-2.2-7-5 2.6-5 7-5z',
  line: 'M4 16 16 4',
  image: 'M3 4h14v12H3zM3 14l4-4 3.5 3.5L13 11l4 4M12.5 7.5h.01',
  undo: 'M7 4 3 8l4 4M3 8h8.5a4.5 4.5 0 0 1 0 9H8',
  redo: 'm13 4 4 4-4 4M17 8H8.5a4.5 4.5 0 0 0 0 9H12',
  turn: 'M15.5 7A6.5 6.5 0 1 0 16.5 11M16 3v4.5h-4.5',
  duplicate: 'M7 7h10v10H7zM13 7V3H3v10h4',
  remove: 'M4 6h12M8 6V3.5h4V6M5.5 6l.8 11h7.4l.8-11M8.5 9v5M11.5 9v5',
  left: 'M3.5 3v14M6 5.5h10v3H6zM6 11.5h6v3H6z',
  centre: 'M10 3v2.5M10 8.5v3M10 14.5V17M4.5 5.5h11v3h-11zM7 11.5h6v3H7z',
  right: 'M16.5 3v14M4 5.5h10v3H4zM8 11.5h6v3H8z',
  top: 'M3 3.5h14M5.5 6h3v10h-3zM11.5 6h3v6h-3z',
  middle: 'M3 10h2.5M8.5 10h3M14.5 10H17M5.5 4.5h3v11h-3zM11.5 7h3v6h-3z',
  bottom: 'M3 16.5h14M5.5 4h3v10h-3zM11.5 8h3v6h-3z',
  across: 'M3.5 3v14M16.5 3v14M8 6h4v8H8z',
  along: 'M3 3.5h14M3 16.5h14M6 8h8v4H6z',
  front: 'M7.5 7.5h9v9h-9zM3.5 12.5v-9h9',
  back: 'M3.5 3.5h9v9h-9zM16.5 7.5v9h-9',
  group: 'M3 3h2v2H3zM15 3h2v2h-2zM3 15h2v2H3zM15 15h2v2h-2zM5 4h10M5 16h10M4 5v10M16 5v10',
  ungroup: 'M3 3h8v8H3zM9 14v3h8V9h-3',
  grid: 'M3 3h14v14H3zM3 7.7h14M3 12.3h14M7.7 3v14M12.3 3v14',
  sides: 'M2.5 5h6v10h-6zM11.5 5h6v10h-6z',
  dotted: 'M3 4v9M6 4v9M9 4v9M13 4v9M17 4v9M3 16.5h.01M6.5 16.5h.01M10 16.5h.01M13.5 16.5h.01M17 16.5h.01',
  drag: 'M7.5 5h.01M12.5 5h.01M7.5 10h.01M12.5 10h.01M7.5 15h.01M12.5 15h.01',
  menu: 'M3 5h14M3 10h14M3 15h14',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  check: 'm4 10.5 4 4 8-9',
  lock: 'M5 9h10v7H5zM7 9V6.5a3 3 0 0 1 6 0V9',
  unlock: 'M5 9h10v7H5zM7 9V6.5a3 3 0 0 1 5.8-1',
  shown: 'M2.5 10c4-6.5 11-6.5 15 0-4 6.5-11 6.5-15 0zM10 12.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4z',
  hidden: 'M2.5 10c4-6.5 11-6.5 15 0-4 6.5-11 6.5-15 0zM4 16 16 4',
  up: 'M10 16V4M5.5 8.5 10 4l4.5 4.5',
  down: 'M10 4v12M5.5 11.5 10 16l4.5-4.5',
  upload: 'M10 13V4M6 7.5 10 3.5l4 3.5M4 13v3h12v-3',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width={name === 'more' || name === 'drag' ? 3 : 1.5}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
