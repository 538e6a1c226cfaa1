/** Style sheets that scripts import; the bundler puts them into its output. */
declare module '*.css';
