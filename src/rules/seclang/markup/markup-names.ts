/** Elements that run or fetch something by themselves. */
export const ACTIVE_ELEMENTS: ReadonlySet<string> = new Set(
  (
    "animate animatemotion animatetransform applet base bgsound embed frame frameset handler iframe image import isindex layer link listener " +
    "marquee math meta noscript object portal script set style svg template use vmlframe xml xmp xss"
  ).split(" "),
);

/** Attributes with scripts, styles or addresses of other documents, for any value. */
export const ACTIVE_ATTRIBUTES: ReadonlySet<string> = new Set(
  "attributename datafld dataformatas datasrc dynsrc formaction fscommand handler lowsrc seeksegmenttime srcdoc style xmlns xlink".split(
    " ",
  ),
);

/** Attributes whose value is an address. */
export const ADDRESS_ATTRIBUTES: ReadonlySet<string> = new Set(
  "action background by cite codebase data folder from href longdesc manifest ping poster profile src to usemap values xlink:href".split(
    " ",
  ),
);

/** Names of event handlers after `on`; every new browser adds some. */
export const EVENT_NAME =
  /^on(?:abort|activate|after|animation|auxclick|before|begin|blur|bounce|cancel|canplay|change|click|close|contextmenu|copy|cuechange|cut|data|dblclick|deactivate|drag|drop|duration|emptied|end$|ended|error|filterchange|finish|focus|formdata|full|gotpointer|hashchange|help|input|invalid|key|layout|load|lose|lostpointer|media|message|mouse|move|offline|online$|outofsync|page|paste|pause|play|pointer|popstate|progress|property|ratechange|ready|receive|repeat|reset|resize|resume|reverse|row|scroll|search|seek|select|show|slotchange|stalled|start|stop|storage|submit|suspend|syncrestored|time|toggle|touch|transition|unload|urlflip|volume|waiting|webkit|wheel)/;

/** Schemes whose addresses are scripts or separate documents. */
export const ACTIVE_SCHEME =
  /^(?:javascript|vbscript|livescript|mocha|view-source|jar|data:(?!image\/(?:png|jpe?g|gif|webp|bmp|x-icon)[;,]))/;
