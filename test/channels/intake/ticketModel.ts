/**
 * What a model makes of the tickets of `agents/basic/tickets.ts`, in their order, from their words alone: calls of the fourth tool as it
 * writes them, `action; field=value; …`, those of one answer together. Without a call it asks or declines. Where a call is followed by
 * nothing that can be drafted, Max refuses it, and the model tells the author why.
 */
export const MODEL: ReadonlyArray<ReadonlyArray<string>> = [
  ["update_po_item; order=4500000001; item=forks; quantity=44"],
  ["update_po_item; order=4500000001; item=knives; quantity=25"],
  ["update_po_item; order=4500000001; item=spoons; quantity=60"],
  ["update_po_item; order=4500000001; item=forks; quantity=50"],
  ["update_po_item; order=4500000001; item=00020; quantity=30"],
  ["update_po_item; order=4500000002; item=forks; price=6.20"],
  ["update_po_item; order=4500000001; item=00010; price=12.50"],
  ["update_po_item; order=4500000001; item=00020; plant=1710"],
  ["update_po_item; order=4500000001; item=00030; plant=1720"],
  ["update_po_header; order=4500000002; terms=0004"],
  ["update_po_header; order=4500000001; terms=0002"],
  ["add_po_item; order=4500000002; material=TG12; quantity=5; plant=1710"],
  ["add_po_item; order=4500000001; material=TG13; quantity=20; plant=1710"],
  ["create_purchase_order; supplier=17300001; material=TG13; quantity=12; plant=1710"],
  ["create_purchase_order; supplier=17300002; material=TG11; quantity=40; plant=1710"],
  ["delete_po_item; order=4500000001; item=knives"],
  ["delete_po_item; order=4500000001; item=00030"],
  ["delete_purchase_order; order=4500000002"],
  ["delete_purchase_order; order=4500000002"],
  ["delete_purchase_order; order=4500000002"],

  ["get_purchase_order; order=4500000001"],
  ["get_purchase_order; order=4500000001"],
  ["get_purchase_order; order=4500000002"],
  ["get_po_items; order=4500000001"],
  ["get_po_items; order=4500000002"],
  ["get_po_item; order=4500000001; item=00020"],
  ["list_purchase_orders; supplier=17300001"],

  ["get_purchase_order; order=4500000001", "update_po_item; order=4500000001; item=forks; quantity=44"],
  ["update_po_item; order=4500000001; item=forks; quantity=50", "delete_po_item; order=4500000001; item=knives"],
  [
    "update_po_item; order=4500000001; item=forks; quantity=12",
    "update_po_item; order=4500000001; item=spoons; quantity=24"
  ],
  [
    "update_po_item; order=4500000001; item=forks; quantity=44",
    "update_po_item; order=4500000001; item=knives; plant=1720"
  ],
  ["update_po_item; order=4500000001; item=forks; quantity=44", "delete_po_item; order=4500000002; item=00030"],
  ["update_po_header; order=4500000001; terms=0003", "get_purchase_order; order=4500000001"],
  [
    "add_po_item; order=4500000002; material=TG12; quantity=5; plant=1710",
    "update_po_header; order=4500000002; terms=0004"
  ],
  ["get_purchase_order; order=4500000001", "get_purchase_order; order=4500000002"],
  [
    "update_po_item; order=4500000001; item=00010; price=12.50",
    "update_po_item; order=4500000001; item=00020; quantity=9"
  ],
  [
    "delete_purchase_order; order=4500000002",
    "create_purchase_order; supplier=17300001; material=TG11; quantity=5; plant=1710"
  ],

  ["update_po_item; order=4500000001; item=forks; quantity=44"],
  ["delete_po_item; order=4500000001; item=spoons"],
  ["update_po_item; order=4500000001; item=forks; quantity=18"],
  ["update_po_item; order=4500000001; item=spoons; quantity=33"],
  ["update_po_item; order=4500000002; item=00010; plant=1720"],

  // Wrong or missing numbers, which it copies, corrects or makes up.
  ["update_po_item; order=450000001; item=forks; quantity=44"],
  ["update_po_item; order=45000000011; item=forks; quantity=44"],
  ["delete_purchase_order; order=4500000002"],
  ["update_po_item; order=4500000001; item=forks; quantity=44"],
  [],
  ["create_purchase_order; supplier=173; material=TG13; quantity=12; plant=17100"],
  ["update_po_item; order=4500000001; quantity=44"],

  // An action that there isn't, conditions, denials, reports and questions.
  ["approve_purchase_requisition; requisition=10000123"],
  ["post_goods_receipt; order=4500000001"],
  [],
  [],
  [],
  [],
  [],
  [],
  [],
  [],
  []
]
