/** People introduced in free text, and who is meant: nobody when not everything fits, several when it fits several. */
export type Introduction = readonly [text: string, ...expect: ReadonlyArray<string>]

export const SHOP: ReadonlyArray<Introduction> = [
  [
    "My name is Tomás Ferreira and my zip code is 19122. I received my order and want to exchange the mechanical keyboard for one with clicky switches.",
    "c4"
  ],
  ["hi, im mara ellison from austin. my lamp came broken", "c2"],
  ["This is about Mara Ellison, zip 02139; she prefers short answers and wants to return a lamp", "c1"],
  ["You are Yusuf Karaca in 48226. You want to cancel all pending orders and you are in a hurry.", "c20"],
  ["Your name is Ivy Chen and your zip code is 89109. You are detail-oriented.", "c23"],
  ["I'm calling on behalf of my husband Ethan Brooks. He lives in Nashville, his postal code is 37211.", "c15"],
  ["Customer ROSA MÁRQUEZ (rmarquez@example.com) asks whether the hiking boots come in size 9.", "c30"],
  ["Hello! Regarding order #W2378156: the buyer is grace long, portland, maine.", "c17"],
  ["hey there, anne-marie dubois-clark here, 98101. Where's my parcel?", "c6"],
  ["Zip 49503, name Pieter van der Berg. He'd like a refund for the Espresso Machine Deluxe.", "c7"],
  ["JAN VAN DIJK, NEW YORK, NY 10004, WANTS TO CHANGE HIS DELIVERY ADDRESS", "c8"],
  [
    "Good morning, Siobhan O'Leary speaking, I live in Chicago and I would like to know about the Lake Shore jacket.",
    "c9"
  ],
  ["kwame mensah, atlanta. He is a cautious shopper and wants to return the Bluetooth Speaker", "c10"],
  ["The customer's e-mail is priya_r@example.com and she wants to exchange her T-Shirt for an XL.", "c11"],
  ["my email: lgomez77@example.com, name lucia gomez. i never got my order", "c13"],
  ["Lucia Gomez in Miami is impatient and asks about the smart watch she bought in March.", "c12"],
  ["Please help user Ethan Brooks, zip code 37203, with the return of two water bottles.", "c14"],
  ["It's Nia Okonkwo from Washington, DC. I ordered a camping tent on May 3 and paid $212.50.", "c18"],
  ["Hiro Tanaka\nHonolulu 96813\nwants to return order 55123 and get his money back to a gift card", "c19"],
  ["Hi, I am Yusuf. My zip is 75201 and I want my Skateboard order cancelled.", "c21"],
  ["I have got Noor de la Cruz on the line (87501), she is chatty and would like a different color", "c24"],
  ["Mei Lin, living in San Francisco, bought a Garden Hose and a Smart Thermostat compatible with Google Home.", "c25"],
  ["someone called olu adeyemi, 713-555-0126, says the grill he got is defective", "c26"],
  ["A caller from Minneapolis named Sven Lindqvist wants to know what Apple HomeKit costs.", "c27"],
  ["Name: Harriet Young. City: Charlotte. Issue: wrong size of running shoes.", "c28"],
  ["Rosa Marquez here. I'm in San Diego, 92101, and I'd rather have a refund than a replacement.", "c29"],
  ["ben whitfield columbus ohio wants to return the air purifier", "c31"],
  ["I'm writing for Amelia Rossi of Indianapolis (46204) who is insecure and rigid", "c32"],
  ["Carlos Rossi, zip 46204. My wife Amelia Rossi told me to write.", "c33"],
  ["fatima al sayed — jacksonville, fl 32202 — order of a Fleece Jacket", "c34"],
  ["Dmitri Volkov in Brooklyn. He wants to talk about the 64GB tablet he bought for his friend John Miller.", "c35"],
  ["Elodie Marchand from New Orleans, LA asks to modify her pending order", "c36"],
  ["hello, i'm wei zhang and my zip is 91106, can i swap the vacuum cleaner?", "c38"],
  ["Joan Baxter, Kansas City MO, would like to know when her desk arrives", "c39"],
  ["this is joan baxter-hill in 66101", "c40"],
  ["Will Park from Portland, Oregon wants the puzzle with 2000 pieces", "c41"],
  ["my name is sara novak, my zip code is 44114 and i need help with a cancelled order", "c42"],
  ["Sara Novak, 44114-1203, has a question", "c42"],
  ["Mr. Ben Whitfield (ben.whitfield@example.com, zip 43215) is sarcastic and wants the cheapest one.", "c31"],
  ["zip: 02118, name: Mara Ellison, wants to return everything", "c3"],
  ["Tomas Ferreira; Denver; likes to be called Tom", "c5"],
  ["I'd like to return an item. My name's Ivy Chen, I live at 100 Strip Boulevard in Las Vegas.", "c22"],
  ["Could you look up Grace Long? She is in Portland, OR.", "c16"],
  ["Kwame Osei Mensah, 30303-1234, gold tier, wants to upgrade", "c10"],
  ["The number 617-555-0103 called about a late delivery.", "c3"],
  [
    "You are Mara Ellison and live in Boston, 02118. You recently moved from Austin and want your new address used.",
    "c3"
  ],
  [
    "Hi, this is Mara Ellison. My new address is 5 Fifth Street, Denver, CO 80202, but you still have 02139 as my zip code.",
    "c1"
  ],
  ["I am Tomás Ferreira, my ZIP is 80218. Please ship the replacement to Philadelphia instead.", "c5"],
  ["Agent Carlos Rossi transferred me. My name is Hiro Tanaka and my zip is 96813.", "c19"],
  ["I'm Dmitri Volkov, zip code 11226, flying from Denver to Chicago next week, need my luggage set before", "c35"],
  // Several fit.
  ["Mara Ellison from Boston wants to return a lamp", "c1", "c3"],
  ["my name is ivy chen and i live in las vegas", "c22", "c23"],
  ["This is Wei Zhang, Pasadena, about an order", "c37", "c38"],
  ["Customer Ethan Brooks, Nashville TN", "c14", "c15"],
  ["my name is Yusuf Karaca and I want to cancel my order", "c20", "c21"],
  // Nobody fits all of it.
  ["My name is Mara Ellison and my zip code is 19122."],
  ["This is Tomás Ferreira from Seattle, I want to return my keyboard"],
  ["I am Harriet Young, zip 28202, e-mail grace.long@example.com"],
  ["My name is Zebulon Quist and my zip code is 19122. I want to return a lamp."],
  ["Nia Okonkwo from Springfield has a question"],
  ["grace long, zip 97202"],
  ["Ben Whitfield in Cleveland, OH wants a refund"],
  ["hi im hiro tanaka from boston"],
  ["My e-mail address is nobody.at.all@example.com and I am Joan Baxter"],
  ["Customer Mei Lin, San Jose, 94108"]
]

export const ABROAD: ReadonlyArray<Introduction> = [
  ["Hello, I'm Oliver Hughes, postcode SW1A 1AA, my kettle hasn't come", "a1"],
  ["oliver hughes ls14dy, where is my bike?", "a2"],
  ["Oliver Hughes from Leeds would like an invoice", "a2"],
  ["Sanne de Vries, 1012 AB Amsterdam, wants to exchange a coat", "a3"],
  ["Mein Name? My name is Jonas Weiss, 10115 Berlin.", "a4"],
  ["camille lefevre from lyon", "a5"],
  ["This is Liam Tremblay, postal code M5V2T6.", "a6"],
  ["Customer Urs Ammann (8001 Zürich) prefers German", "a7"],
  ["Yuki Mori, postal code 060-0001, ordered a kettle", "a8"],
  ["I'm Max Müller and I live in Koln", "a10"],
  ["max muller, munchen", "a9"],
  ["Max Müller wants to return a fan", "a9", "a10"],
  ["Oliver Hughes, postcode 10115"]
] // prettier-ignore
